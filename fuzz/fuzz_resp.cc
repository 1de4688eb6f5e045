// wire/resp: any bytes are requests or replies, the same ones wherever the input is cut, within the
// limits; what was read survives being written and read again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "wire/resp_reply.h"
#include "wire/resp_request.h"
#include "wire/resp_writer.h"

namespace {

using penstock::wire::RespReplyParser;
using penstock::wire::RespRequestLimits;
using penstock::wire::RespRequestParser;
using penstock::wire::RespType;
using penstock::wire::RespValue;

// Small, so that a few bytes reach them.
constexpr RespRequestLimits kLimits{
    .arguments = 8, .argument_bytes = 32, .inline_bytes = 48, .request_bytes = 96};

template <class Parser, class Parse, class Take>
std::string read(std::string_view text, std::size_t step, Parse parse, Take take) {
  Parser parser;
  std::string held;
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += step) {
    // A fresh buffer of just that size: ASAN sees a read of the old one, or past the end.
    held = std::string(held) + std::string(text.substr(at, step));
    for (;;) {
      const auto status = parse(parser, held);
      if (status == Parser::Status::invalid) return out + "!" + std::string(parser.problem());
      if (status == Parser::Status::need_more) break;
      PENSTOCK_CHECK(parser.consumed() > 0 && parser.consumed() <= held.size());
      take(parser, out);
      held.erase(0, parser.consumed());
    }
  }
  return out;
}

std::string read_requests(std::string_view text, std::size_t step) {
  return read<RespRequestParser>(
      text, step,
      [](RespRequestParser& parser, std::string_view held) { return parser.parse(held, kLimits); },
      [](const RespRequestParser& parser, std::string& out) {
        PENSTOCK_CHECK(parser.arguments().size() <= kLimits.arguments);
        penstock::wire::RespWriter writer(out, penstock::wire::RespVersion::v2);
        writer.array(parser.arguments().size());
        for (const std::string_view argument : parser.arguments()) writer.bulk(argument);
      });
}

std::string read_replies(std::string_view text, std::size_t step) {
  return read<RespReplyParser>(
      text, step, [](RespReplyParser& parser, std::string_view held) { return parser.parse(held); },
      [](const RespReplyParser& parser, std::string& out) {
        PENSTOCK_CHECK(parser.values().front().next == parser.values().size());
        for (const RespValue& value : parser.values()) {
          out += static_cast<char>('0' + static_cast<int>(value.type));
          out += std::to_string(value.integer);
          out += value.text;
        }
      });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t step = data[0] % 16 + 1;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string requests = read_requests(text, text.size() + 1);
  PENSTOCK_CHECK(read_requests(text, step) == requests);
  PENSTOCK_CHECK(read_replies(text, step) == read_replies(text, text.size() + 1));
  const std::string_view whole(requests.data(), requests.rfind('!') == requests.npos
                                                    ? requests.size()
                                                    : requests.rfind('!'));
  // Written anew it means the same; an inline line may grow past the limits by being framed.
  const std::string again = read_requests(whole, whole.size() + 1);
  PENSTOCK_CHECK(whole.starts_with(again.substr(0, again.rfind('!'))));
  return 0;
}
