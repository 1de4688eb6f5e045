// The CL.THROTTLE calls that arrived together, of one connection or of several: decided in one go,
// answered in their order. One per thread, reused for ever.
//
// Their keys live in the table of all throttle keys, apart from those of policies, since their
// limit comes with the call: store::kClientLimitPrefix.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/limits/limit.h"
#include "front/resp/state.h"
#include "store/limits/ports.h"

namespace penstock::front {

inline constexpr char kThrottleKeyPrefix = store::kClientLimitPrefix;
inline constexpr std::size_t kThrottleKeyBytesMax = 511;  // the table's 512 less the prefix

class RespConnection;

// Bytes of a thread's output that are ready for a connection.
struct RespReply {
  RespConnection* connection;
  std::size_t from;
  std::size_t end;
};

class ThrottleBatch {
 public:
  // `replies` learns what is ready for connections that left their calls here. Both must outlive
  // this.
  ThrottleBatch(RespState& state, std::vector<RespReply>& replies);
  ThrottleBatch(const ThrottleBatch&) = delete;
  ThrottleBatch& operator=(const ThrottleBatch&) = delete;

  // Takes one call; `arguments` begin with the command's name and are not needed afterwards. False:
  // nothing was taken, and `problem` is the reply's text. Not to be called when full.
  bool add(std::span<const std::string_view> arguments, std::string& problem);

  bool is_full() const noexcept { return size_ == kCallsMax; }
  // Whether there are calls that nobody left here.
  bool is_open() const noexcept { return size_ > (shares_.empty() ? 0 : shares_.back().end); }
  // Those calls are the connection's, and wait for the calls of others.
  void leave(RespConnection& connection);
  // Decides all that were taken and appends their replies: first what was left, then the others',
  // which begin at the place that it returns.
  std::size_t settle(std::string& out) { return size_ > 0 ? decide(out) : out.size(); }

 private:
  struct Share {
    RespConnection* connection;
    std::size_t end;  // of its calls
  };
  // The table looks at 16 keys at a time; some groups of them are enough to share one clock
  // reading.
  static constexpr std::size_t kCallsMax = 64;
  // Rates in lowest terms cost more to find than a decision; callers use a handful.
  static constexpr std::size_t kRatesKept = 16;
  struct KnownRate {
    std::int64_t count = 0;
    std::int64_t period = 0;
    core::Rate rate;
  };

  std::size_t decide(std::string& out);
  void append_answer(std::size_t call, std::string& out);
  const core::Rate* find_rate(std::int64_t count, std::int64_t period, std::string& problem);

  RespState& state_;
  std::vector<RespReply>& replies_;
  std::vector<Share> shares_;  // their calls come first
  std::size_t size_ = 0;
  std::size_t key_bytes_ = 0;
  std::array<store::LimitCheck, kCallsMax> checks_;
  std::array<core::LimitStatus, kCallsMax> statuses_;
  std::array<store::LimitRequest, kCallsMax> requests_;
  std::array<Result<store::LimitAnswer>, kCallsMax> answers_;
  std::array<KnownRate, kRatesKept> rates_;
  std::array<char, kCallsMax*(kThrottleKeyBytesMax + 1)> keys_;
};

}  // namespace penstock::front
