// Port: the idempotency keys of messages that are published outside of the store. A key is claimed
// with its message's id before the publish, and settled by what came of that; what is accepted is
// what QuotaStore::send() knows, too. A backend proves itself with store/conformance/quota_suite.h.
// Implementations are blocking and safe to call from several threads at once; `now` is for tests,
// null = the store's own clock.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/dispatch/item_call.h"
#include "core/gateway/quota.h"

namespace penstock::store {

struct KeyClaim {
  core::UserId user;
  std::string key;
  core::BodyDigest digest{};  // of the message
  ItemId id;                  // the message's, if the key is free
};

enum class KeyState : std::uint8_t {
  free,       // nobody has it
  accepted,   // this message was accepted with it: `id`
  different,  // another message has it
  pending,    // a request that is still under way has it, with this message
  left,       // one that is over had it, with this message, and nobody knows what came of it: `id`
};

struct KeyView {
  KeyState state = KeyState::free;
  ItemId id;
  std::int64_t claim = 0;  // names the claim, for settle()
};

enum class KeyEnd : std::uint8_t {
  accepted,  // remembered with its message
  dropped,   // free again
  left,      // nobody knows: whoever comes next with this message goes on with its id
};

struct KeySettlement {
  core::UserId user;
  std::string key;
  std::int64_t claim = 0;
  KeyEnd end = KeyEnd::accepted;
};

class SendKeys {
 public:
  SendKeys() = default;
  SendKeys(const SendKeys&) = delete;
  SendKeys& operator=(const SendKeys&) = delete;
  virtual ~SendKeys() = default;

  // What each key is now; writes nothing. A claim that is older than `live` is left.
  virtual Result<std::vector<KeyView>> look(std::span<const KeyClaim> keys, Millis live,
                                            std::optional<Instant> now) = 0;

  // What each key was, in order; those that were free or left are the caller's now. Durable when
  // it returns; all or none.
  virtual Result<std::vector<KeyView>> claim(std::span<const KeyClaim> keys, Millis live,
                                             std::optional<Instant> now) = 0;

  // Whether each was still the caller's: a claim that was left meanwhile and taken by another
  // stays as it is.
  virtual Result<std::vector<bool>> settle(std::span<const KeySettlement> keys,
                                           std::optional<Instant> now) = 0;
};

}  // namespace penstock::store
