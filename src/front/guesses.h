// Slows whoever guesses tokens or passwords: counts wrong ones by address, logs them, and after ten
// in a minute makes that address wait. One for all fronts of a daemon. Thread-safe.
//
// An address that has to wait gets the same answer whatever it sends, so that further guesses teach
// it nothing. A secret that was right from there before stays usable: else whoever shares an
// address with a client (a proxy, a NAT) could lock that client out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/time.h"
#include "runtime/clocks.h"
#include "runtime/metrics.h"
#include "wire/ip_address.h"

namespace penstock::front {

enum class GuessFront : std::uint8_t { http, resp };
// What the secret of an attempt turned out to be.
enum class SecretKind : std::uint8_t {
  wrong = 0,
  admin_token = 1,
  api_token = 2,
  resp_password = 4
};

struct Attempt {
  GuessFront front = GuessFront::http;
  wire::IpAddress address;  // of the socket's other end
  SecretKind secret = SecretKind::wrong;
};

class Guesses {
 public:
  static constexpr std::uint32_t kWrongMax = 10;  // in kPeriod, by one address
  static constexpr Seconds kPeriod{60};
  static constexpr std::size_t kAddresses = 4'096;  // known at once; about 250 KiB

  // Both must outlive this; one for each registry.
  Guesses(Log& log, runtime::Metrics& metrics);

  // How long the address has to wait before another attempt counts. Nothing: the attempt is what
  // its secret says.
  std::optional<Seconds> judge(const Attempt& attempt);
  std::optional<Seconds> judge(const Attempt& attempt, Micros now);  // on a clock of the caller

 private:
  // The table is one of sets: an address has a place in one of them, the least recently used one's.
  static constexpr std::size_t kWays = 8;
  // All addresses together: nobody fills the disk by sending from many.
  static constexpr std::uint32_t kLinesMax = 60;  // in kPeriod

  struct Entry {
    wire::IpAddress network;  // IPv6: the /64, which is one customer's
    Micros used = Micros::min();
    Micros since{0};           // when the first of `wrong` came
    std::uint32_t wrong = 0;   // in kPeriod from `since`
    std::uint64_t unsaid = 0;  // wrong ones since the last line in the log
    std::uint8_t known = 0;    // secrets that were right from here
  };

  Entry& entry_of(const wire::IpAddress& network, Micros now);
  void note_wrong(Entry& entry, const Attempt& attempt, Micros now);
  void say(std::string_view event, Entry& entry, const Attempt& attempt, Micros now);

  Log& log_;
  std::array<runtime::Counter*, 2> wrong_;  // by front
  const runtime::Stopwatch since_start_;
  const std::uint64_t seed_;  // nobody can choose addresses that fall into one set
  std::mutex mutex_;
  std::vector<Entry> entries_;  // guarded by mutex_
  Micros lines_since_{0};       // guarded by mutex_
  std::uint32_t lines_ = 0;     // guarded by mutex_; in kPeriod from lines_since_
};

}  // namespace penstock::front
