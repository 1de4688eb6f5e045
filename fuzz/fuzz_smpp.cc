// What a provider may send over SMPP, wire/smpp and smpp_receipt: any bytes are a unit, too few or
// no unit; a message that was read is the same when written and read again; what a receipt says is
// bounded and printable.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "wire/smpp.h"
#include "wire/smpp_receipt.h"

namespace {

using namespace penstock;
using namespace penstock::wire;

void check_message(std::string_view body) {
  const Result<SmppMessage> message = decode_smpp_message(body);
  if (!message) return PENSTOCK_CHECK(!message.error().what.empty());
  if (const auto receipt = read_smpp_receipt(*message)) {
    PENSTOCK_CHECK(!receipt->reference.empty() && receipt->reference.size() <= 65);
    PENSTOCK_CHECK(receipt->detail.size() <= 256);
    PENSTOCK_CHECK(std::ranges::all_of(receipt->reference + receipt->detail,
                                       [](char c) { return c >= ' ' && c < 0x7F; }));
  }
  if (message->text.size() > kSmppTextBytesMax) return;  // a payload: never written
  std::string again;
  append_smpp_message(again, {.command = SmppCommand::deliver_sm, .status = 0, .sequence = 1},
                      *message);
  const SmppFrame frame = read_smpp_frame(again);
  PENSTOCK_CHECK(frame.state == SmppFrame::State::complete && frame.size == again.size());
  PENSTOCK_CHECK(decode_smpp_message(frame.body) == *message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_message(bytes);
  (void)decode_smpp_answer(bytes);
  (void)decode_smpp_bind(bytes);
  for (;;) {
    const SmppFrame frame = read_smpp_frame(bytes);
    if (frame.state != SmppFrame::State::complete) return 0;
    PENSTOCK_CHECK(frame.size >= kSmppHeaderBytes && frame.size <= bytes.size());
    check_message(frame.body);
    bytes.remove_prefix(frame.size);
  }
}
