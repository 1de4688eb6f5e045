// Ports of a cache in front of the users' quotas; PostgreSQL keeps the truth.
// Blocking; thread-safe; what changes something is durable when it returns.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/gateway/quota.h"
#include "store/port.h"

namespace penstock::store {

struct Charge {
  core::UserId user;
  std::int64_t cost = 1;
};

enum class ChargeResult : std::uint8_t {
  charged,
  limited,  // the window is used up
  never,    // it costs more than a window allows
  unknown_user,
};

struct Charged {
  ChargeResult result = ChargeResult::charged;
  std::int64_t window = 0;  // the window it was charged to, as the gate itself names it
  Micros retry_after{0};    // of one that is limited
};

struct GiveBack {
  core::UserId user;
  std::int64_t cost = 1;
  std::int64_t window = 0;  // of its charge: what belongs to another window is not given back
};

// Charging a message to its user's quota without sending it, for a bus outside of the store:
// charge, publish, and give back what could not be published. A crash in between leaves the charge.
// Implementations are blocking and safe to call from several threads at once.
class QuotaGate : public Port {
 public:
  // Decided in the order of `charges`, as if each were alone; durable when the call returns, as far
  // as the gate promises it. `now` is for tests; null = the gate's own clock.
  virtual std::vector<Result<Charged>> charge(std::span<const Charge> charges,
                                              std::optional<Instant> now) = 0;
  // All of it or none. To be called once for a charge.
  virtual Result<void> give_back(std::span<const GiveBack> charges) = 0;
};

// How much is leased at once: at least `least`, a `part`-th of the limit, and what is needed now;
// at most what is left.
struct LeaseSize {
  std::int64_t least = 64;
  std::int64_t part = 8;
};

struct QuotaLeaseRequest {
  core::UserId user;
  std::int64_t need = 1;   // that waits
  std::int64_t least = 1;  // the smallest cost among it
};

enum class LeaseResult : std::uint8_t {
  leased,
  unknown_user,
  never,  // even the least costs more than a window allows
};

// The units [from, to) of a window, which nobody else has.
struct QuotaLease {
  LeaseResult result = LeaseResult::leased;
  core::UserId user;
  std::int64_t rate_limit = 0;
  std::int64_t window = 0;  // as the gate names it
  Instant ends{};           // of the window
  Micros remaining{0};      // of the window, when it was leased
  std::int64_t from = 0;
  std::int64_t to = 0;
  bool full = false;       // there is no more to lease in this window
  std::int64_t stamp = 0;  // where a new entry begins to number its changes
};

// What the cache said of an entry after one of its changes.
struct CountSeen {
  core::UserId user;
  std::int64_t window = 0;
  std::int64_t count = 0;
  std::int64_t version = 0;  // the entry's number of that change
  Micros age{0};             // since it was read, at least
};

struct CacheEpoch {
  std::int64_t number = 0;
  bool open = false;
  bool settled = false;
  std::string token;    // by which the cache knows it
  bool joined = false;  // the asking node is in it for a term
  Micros wait{0};       // of one that is closed: how long somebody is waited for, at most
  Instant at{};         // of state(): the ledger's time
};

// A charge past the cache.
struct PastCache {
  Charged charged;
  bool leased = false;  // undecided: it depends on what the cache still has
};

// The truth behind a cache of quotas. What a cache may give out is charged here before it gets it
// (a lease), so whatever becomes of the cache, no more is charged than the limit allows. An epoch
// is one unbroken life of the cache for all nodes. The first node that finds it failing closes the
// epoch; it is settled once every node in it has written down what it saw, or has let its term
// pass. Then what was leased and not used is the user's again; of nodes that went silently the
// leases count as used. Implementations are blocking and safe to call from several threads at once.
class QuotaLedger : public Port {
 public:
  // For users that are named once each. Empty: the epoch is not open. A window that is over begins
  // anew.
  virtual Result<std::vector<QuotaLease>> lease(std::int64_t epoch,
                                                std::span<const QuotaLeaseRequest> requests,
                                                const LeaseSize& size,
                                                std::optional<Instant> now) = 0;
  // What was leased and never reached the cache.
  virtual Result<void> return_lease(std::int64_t epoch, const QuotaLease& lease) = 0;
  // For users that are named once each. What is older than is known already changes nothing.
  virtual Result<void> flow_back(std::int64_t epoch, std::span<const CountSeen> counts) = 0;

  // Decided in the order of `charges`. All of it is written or none.
  virtual Result<std::vector<PastCache>> charge(std::span<const Charge> charges,
                                                std::optional<Instant> now) = 0;
  virtual Result<void> give_back(std::span<const GiveBack> charges) = 0;

  virtual Result<CacheEpoch> state() = 0;
  // `node` is there, and in the open epoch for `term` if it reaches the cache.
  virtual Result<CacheEpoch> beat(std::string_view node, bool sees_cache, Millis term) = 0;
  // Closes `epoch`, which `node` leaves after its last flow_back (empty = nobody does), and settles
  // it if nobody is left. Again until it is settled.
  virtual Result<CacheEpoch> close(std::int64_t epoch, std::string_view node) = 0;
  // Begins the epoch after `after`, unless somebody has, or some node does not reach the cache.
  virtual Result<CacheEpoch> open(std::int64_t after, std::string_view node, std::string_view token,
                                  Millis term) = 0;
  // The node goes in good order, after its last flow_back.
  virtual Result<void> leave(std::string_view node) = 0;
};

// An epoch as the cache needs it.
struct CacheKey {
  std::int64_t epoch = 0;
  std::string token;
};

// Charges of one user, in order.
struct CacheCharge {
  core::UserId user;
  std::vector<std::int64_t> costs;
};

struct CacheCharged {
  std::vector<Charged> decided;  // of the first costs; what is left needs a lease
  bool blocked = false;          // nothing of this user is to be put here now
  // After something was taken:
  bool changed = false;
  std::int64_t count = 0;
  std::int64_t version = 0;
};

struct CacheCount {
  bool there = false;  // an entry of that window
  std::int64_t count = 0;
  std::int64_t version = 0;
};

// Counts of quotas in a shared cache, which may lose them, or come back with old ones, at any
// moment: then every call of an epoch that it does not know any more fails. Any failure may have
// happened after the deed. Implementations are blocking, with a deadline of their own, and safe to
// call from several threads at once.
class QuotaCache : public Port {
 public:
  // For users that are named once each. One failure fails the call. `now` as QuotaGate::charge's.
  virtual Result<std::vector<CacheCharged>> charge(const CacheKey& key,
                                                   std::span<const CacheCharge> charges,
                                                   std::optional<Instant> now) = 0;
  // Whether each lease was taken: not one older than what is there or was forgotten. Each lease
  // once.
  virtual Result<std::vector<bool>> fill(const CacheKey& key,
                                         std::span<const QuotaLease> leases) = 0;
  // For users that are named once each; `count` is given back.
  virtual Result<std::vector<CacheCount>> give_back(const CacheKey& key,
                                                    std::span<const GiveBack> charges) = 0;

  // The entry goes, and nothing of a window before `window` comes back. Empty: nothing at all for a
  // moment, while its config is changed.
  virtual Result<void> forget(core::UserId user, std::optional<std::int64_t> window) = 0;

  // Makes the cache know an epoch by `token`, which it forgets with its data.
  virtual Result<void> begin(std::string_view token) = 0;
  // Whether all of it can be reached.
  virtual Result<void> probe() = 0;
};

}  // namespace penstock::store
