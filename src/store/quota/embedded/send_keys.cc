#include "store/quota/embedded/quota.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "core/gateway/message.h"
#include "store/quota/embedded/quota_batch.h"

namespace penstock::store::embedded {
namespace {

std::int64_t stamp_of(const KeyClaimRecord& claim) { return claim.at.time_since_epoch().count(); }

// What a key is, by what is written of it.
KeyView view_of(const KeyClaim& key, const std::optional<KeyRecord>& accepted,
                const std::optional<KeyClaimRecord>& claim, Millis live, Instant now, Millis term) {
  if (accepted && now < accepted->at + term) {
    if (accepted->digest != key.digest) return {.state = KeyState::different};
    return {.state = KeyState::accepted, .id = accepted->id};
  }
  if (!claim) return {.state = KeyState::free};
  if (claim->digest != key.digest) return {.state = KeyState::different};
  if (!claim->left && now < claim->at + live) return {.state = KeyState::pending};
  return {.state = KeyState::left, .id = claim->id};
}

// The claims that one step looks at and changes, by their rows.
class ClaimPages {
 public:
  explicit ClaimPages(const Engine::View& view) : view_(view) {}

  Result<std::optional<KeyClaimRecord>*> of(const std::string& row) {
    const auto [found, added] = claims_.try_emplace(row);
    if (added) found->second = PENSTOCK_TRY(read_key_claim(view_, row));
    return &found->second;
  }

 private:
  const Engine::View& view_;
  std::map<std::string, std::optional<KeyClaimRecord>> claims_;
};

Result<KeyView> look_at(const Engine::View& view, ClaimPages& claims, const KeyClaim& key,
                        Millis live, Instant now, Millis term) {
  const std::optional<KeyRecord> accepted =
      PENSTOCK_TRY(read_key(view, send_key(key.user, key.key)));
  std::optional<KeyClaimRecord>* const claim =
      PENSTOCK_TRY(claims.of(key_claim_key(key.user, key.key)));
  return view_of(key, accepted, *claim, live, now, term);
}

}  // namespace

Result<std::vector<KeyView>> EmbeddedSendKeys::look(std::span<const KeyClaim> keys, Millis live,
                                                    std::optional<Instant> now) {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  ClaimPages claims(view);
  std::vector<KeyView> out;
  out.reserve(keys.size());
  for (const KeyClaim& key : keys) {
    KeyView seen =
        PENSTOCK_TRY(look_at(view, claims, key, live, writer_.at(now), core::key_term(now)));
    out.push_back(std::move(seen));
  }
  return out;
}

Result<std::vector<KeyView>> EmbeddedSendKeys::claim(std::span<const KeyClaim> keys, Millis live,
                                                     std::optional<Instant> now) {
  if (keys.empty()) return std::vector<KeyView>{};
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  const Instant moment = writer_.at(now);
  ClaimPages claims(view);
  Changes changes(view);
  std::vector<KeyView> out;
  out.reserve(keys.size());
  for (const KeyClaim& key : keys) {
    KeyView seen = PENSTOCK_TRY(look_at(view, claims, key, live, moment, core::key_term(now)));
    if (seen.state == KeyState::free || seen.state == KeyState::left) {
      const std::string row = key_claim_key(key.user, key.key);
      std::optional<KeyClaimRecord>& claim = **claims.of(row);
      if (!claim) {
        claim = KeyClaimRecord{.at = moment, .digest = key.digest, .id = key.id};
        seen.id = key.id;
      } else {
        claim->at = std::max(moment, claim->at + Micros{1});  // another claim than that before
        claim->left = false;
      }
      seen.claim = stamp_of(*claim);
      changes.put(Family::gateway_log, row, encode_key_claim(*claim));
    }
    out.push_back(std::move(seen));
  }
  PENSTOCK_TRY(changes.commit(writer_.engine));
  return out;
}

Result<std::vector<bool>> EmbeddedSendKeys::settle(std::span<const KeySettlement> keys,
                                                   std::optional<Instant> now) {
  if (keys.empty()) return std::vector<bool>{};
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  const Instant moment = writer_.at(now);
  Changes changes(view);
  std::vector<bool> out;
  out.reserve(keys.size());
  for (const KeySettlement& key : keys) {
    const std::string row = key_claim_key(key.user, key.key);
    std::optional<KeyClaimRecord> claim = PENSTOCK_TRY(read_key_claim(view, row));
    out.push_back(claim && stamp_of(*claim) == key.claim);
    if (!out.back()) continue;
    if (key.end == KeyEnd::left) {
      claim->left = true;
      changes.put(Family::gateway_log, row, encode_key_claim(*claim));
      continue;
    }
    changes.remove(Family::gateway_log, row);
    if (key.end == KeyEnd::dropped) continue;
    put_key(changes, key.user, key.key, {.at = moment, .digest = claim->digest, .id = claim->id});
  }
  PENSTOCK_TRY(changes.commit(writer_.engine));
  return out;
}

}  // namespace penstock::store::embedded
