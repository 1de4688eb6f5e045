// Requests of the Redis protocol, as a server reads them: arrays of bulk strings, and inline
// commands with Redis's quoting. Incremental and total: any bytes give a request, "need more" or
// `invalid`, and the same ones wherever the input is cut. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::wire {

// Redis allows 1M arguments of 512 MB. Nothing a limiter understands has more than a dozen short
// ones; the rest is room for clients that describe themselves, or echo.
struct RespRequestLimits {
  std::uint32_t arguments = 1'024;
  std::uint32_t argument_bytes = 64 * 1024;
  std::uint32_t inline_bytes = 64 * 1024;    // one line, as Redis has it
  std::uint32_t request_bytes = 128 * 1024;  // framing included: what one connection may hold
  bool for_strangers = false;                // and errors say so

  // As Redis: who has not said the password gets as much as saying it takes.
  static constexpr RespRequestLimits before_auth() noexcept {
    return {.arguments = 10,
            .argument_bytes = 16 * 1024,
            .inline_bytes = 16 * 1024,
            .request_bytes = 32 * 1024,
            .for_strangers = true};
  }
};

class RespRequestParser {
 public:
  enum class Status : std::uint8_t { request, need_more, invalid };

  // Takes one request from the front of `bytes`, which begin where the last request ended. After
  // need_more, comes again with the same bytes, wherever they are by then, and more behind them;
  // only what is new is looked at.
  Status parse(std::string_view bytes, const RespRequestLimits& limits);

  // Of a request, until the next call: views of `bytes`, or of this for an inline command. Empty
  // for `*0` and an empty line, which get no answer.
  std::span<const std::string_view> arguments() const noexcept { return arguments_; }
  std::size_t consumed() const noexcept { return at_; }

  // Of `invalid`, which is for ever: what Redis says after "Protocol error: ".
  std::string_view problem() const noexcept { return problem_; }

  // Between requests: nothing of the next one was seen yet.
  bool is_idle() const noexcept { return at_ == 0; }

 private:
  enum class Line : std::uint8_t { found, need_more, too_long };
  struct Slice {
    std::uint32_t at;
    std::uint32_t size;
  };

  void begin() noexcept;
  Status invalid(std::string problem);
  Line find_header(std::string_view bytes, std::string_view& text) const noexcept;
  Status parse_count(std::string_view bytes, const RespRequestLimits& limits);
  Status parse_arguments(std::string_view bytes, const RespRequestLimits& limits);
  Status parse_inline(std::string_view bytes, const RespRequestLimits& limits);
  bool split(std::string_view line, std::uint32_t arguments_max, bool& too_many);

  std::vector<std::string_view> arguments_;
  std::vector<Slice> slices_;    // of the arguments seen so far
  std::size_t at_ = 0;           // bytes understood; of a request, its end
  std::size_t scanned_ = 0;      // of an inline command, bytes without a line end
  std::uint32_t expected_ = 0;   // arguments still to come
  std::int64_t bulk_ = kNoBulk;  // size of the argument under way
  bool in_array_ = false;
  bool done_ = false;  // at_ stands at the end of a request already given
  bool failed_ = false;
  std::string unquoted_;  // of an inline command
  std::string problem_;

  static constexpr std::int64_t kNoBulk = -1;
};

// A whole signed number in decimal, as Redis reads lengths: no sign but '-', no leading zero, no
// blank. False: it is not one.
bool parse_resp_integer(std::string_view text, std::int64_t& value) noexcept;

}  // namespace penstock::wire
