// The way of bytes into the server: request reader, then router. Any bytes give requests, a refusal
// or "need more", within the limits, and the same ones wherever the input is cut.
//
// The first eight bytes choose the cuts, the rest is what a client sends.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/rng.h"
#include "front/http/server/router.h"
#include "wire/http/request_reader.h"

namespace {

using namespace penstock;
using namespace penstock::front;

// Small, so that inputs of a few kilobytes pass them.
constexpr wire::HeadLimits kLimits{.line_bytes = 256, .head_bytes = 1'024};
constexpr std::size_t kBodyMax = 512;

Route route(Method method, std::string_view pattern) {
  return {method, pattern, Access::open, BodyLimit::single, [](const Request&, Reply&&) {}};
}

const Router& router() {
  static const Router table({
      route(Method::get, "/"),
      route(Method::get, "/a"),
      route(Method::post, "/a/b"),
      route(Method::get, "/a/{x}"),
      route(Method::del, "/a/{x}"),
      route(Method::put, "/a/{x}/c"),
      route(Method::get, "/a/b/{y}/d"),
      route(Method::get, "/{x}/{y}/{z}"),
  });
  return table;
}

void note(std::string& out, std::string_view text) {
  out += std::to_string(text.size());
  out += ':';
  out += text;
}

// One connection, fed piece by piece from memory that is overwritten after each.
class Connection {
 public:
  void feed(std::string_view piece) {
    buffer_.assign(piece);
    reader_.feed(buffer_);
    while (!ended_ && step()) {
    }
    reader_.park();
    std::memset(buffer_.data(), '!', buffer_.size());
    if (!ended_ && reader_.place() == wire::RequestReader::Place::between_requests) {
      PENSTOCK_CHECK(reader_.held_bytes() <= std::string().capacity());
    }
    // A string at most doubles; nothing past the limits is ever kept.
    PENSTOCK_CHECK(reader_.held_bytes() <= 2 * (kLimits.head_bytes + kBodyMax + piece.size()));
  }
  bool ended() const noexcept { return ended_; }
  const std::string& transcript() const noexcept { return out_; }

 private:
  // False: more bytes are needed.
  bool step() {
    switch (reader_.next(request_, framing_)) {
      case wire::RequestReader::Step::need_more:
        return false;
      case wire::RequestReader::Step::head:
        decide();
        return true;
      case wire::RequestReader::Step::request:
        PENSTOCK_CHECK(request_.body.size() <= kBodyMax);
        handle();
        reader_.finish();
        return true;
      case wire::RequestReader::Step::refused:
        out_ += "refused " + std::to_string(reader_.refusal().status);
        note(out_, reader_.refusal().message);
        ended_ = true;
        return false;
    }
    return false;
  }

  // As a session does: unknown paths are read past, other bodies are taken up to the limit.
  void decide() {
    const RouteMatch match = router().match(request_.method, request_.path, params_);
    if (match.status != 0 && !framing_.chunked) {
      out_ += "no route " + std::to_string(match.status) + match.allow;
      reader_.discard();
    } else if (const auto problem = reader_.accept(kBodyMax)) {
      out_ += "too large " + std::to_string(problem->status);
      ended_ = true;
    }
  }

  void handle() {
    const RouteMatch match = router().match(request_.method, request_.path, params_);
    note(out_, to_string(request_.method));
    note(out_, request_.target);
    note(out_, request_.query);
    note(out_, match.route ? match.route->pattern : match.allow);
    for (const std::string& param : params_) note(out_, param);
    for (const auto& [name, value] : request_.headers) {
      note(out_, name);
      note(out_, value);
    }
    note(out_, request_.body);
    if (const auto value = request_.query_param("q"); value && *value) note(out_, **value);
    out_ += framing_.keep_alive ? "keep" : "close";
    out_ += framing_.expects_continue ? " expect\n" : "\n";
  }

  wire::RequestReader reader_{kLimits};
  Request request_;
  wire::Framing framing_;
  std::vector<std::string> params_;
  std::string buffer_;
  std::string out_;
  bool ended_ = false;
};

template <class Cut>
std::string run(std::string_view bytes, Cut cut) {
  Connection connection;
  while (!bytes.empty() && !connection.ended()) {
    const std::size_t size = std::min<std::size_t>(cut(), bytes.size());
    connection.feed(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return connection.transcript();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::uint64_t seed = 0;
  if (size < sizeof seed) return 0;
  std::memcpy(&seed, data, sizeof seed);
  const std::string_view bytes(reinterpret_cast<const char*>(data) + sizeof seed,
                               size - sizeof seed);
  const std::string whole = run(bytes, [&] { return bytes.size(); });
  PENSTOCK_CHECK(run(bytes, [] { return 1; }) == whole);
  Rng rng(seed);
  const std::uint64_t longest = 1 + rng.below(64);
  PENSTOCK_CHECK(run(bytes, [&] { return 1 + rng.below(longest); }) == whole);
  return 0;
}
