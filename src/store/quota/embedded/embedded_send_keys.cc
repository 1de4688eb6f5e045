#include "store/quota/embedded/embedded_send_keys.h"

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
    if (added) {
      Result<std::optional<KeyClaimRecord>> record = read_key_claim(view_, row);
      if (!record) return std::unexpected(std::move(record.error()));
      found->second = std::move(*record);
    }
    return &found->second;
  }

 private:
  const Engine::View& view_;
  std::map<std::string, std::optional<KeyClaimRecord>> claims_;
};

Result<KeyView> look_at(const Engine::View& view, ClaimPages& claims, const KeyClaim& key,
                        Millis live, Instant now, Millis term) {
  const Result<std::optional<KeyRecord>> accepted = read_key(view, send_key(key.user, key.key));
  if (!accepted) return std::unexpected(accepted.error());
  const Result<std::optional<KeyClaimRecord>*> claim = claims.of(key_claim_key(key.user, key.key));
  if (!claim) return std::unexpected(claim.error());
  return view_of(key, *accepted, **claim, live, now, term);
}

}  // namespace

Result<std::vector<KeyView>> EmbeddedSendKeys::look(std::span<const KeyClaim> keys, Millis live,
                                                    std::optional<Instant> now) {
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  ClaimPages claims(*view);
  std::vector<KeyView> out;
  out.reserve(keys.size());
  for (const KeyClaim& key : keys) {
    Result<KeyView> seen = look_at(*view, claims, key, live, at(now), core::key_term(now));
    if (!seen) return std::unexpected(std::move(seen.error()));
    out.push_back(std::move(*seen));
  }
  return out;
}

Result<std::vector<KeyView>> EmbeddedSendKeys::claim(std::span<const KeyClaim> keys, Millis live,
                                                     std::optional<Instant> now) {
  if (keys.empty()) return std::vector<KeyView>{};
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return std::unexpected(ready.error());
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  const Instant moment = at(now);
  ClaimPages claims(*view);
  rocksdb::WriteBatch batch;
  QuotaWrites writes(*view, batch);
  std::vector<KeyView> out;
  out.reserve(keys.size());
  for (const KeyClaim& key : keys) {
    Result<KeyView> seen = look_at(*view, claims, key, live, moment, core::key_term(now));
    if (!seen) return std::unexpected(std::move(seen.error()));
    if (seen->state == KeyState::free || seen->state == KeyState::left) {
      const std::string row = key_claim_key(key.user, key.key);
      std::optional<KeyClaimRecord>& claim = **claims.of(row);
      if (!claim) {
        claim = KeyClaimRecord{.at = moment, .digest = key.digest, .id = key.id};
        seen->id = key.id;
      } else {
        claim->at = std::max(moment, claim->at + Micros{1});  // another claim than that before
        claim->left = false;
      }
      seen->claim = stamp_of(*claim);
      writes.put(Family::gateway_log, row, encode_key_claim(*claim));
    }
    out.push_back(std::move(*seen));
  }
  if (batch.Count() == 0) return out;
  if (Result<void> status = writes.status(); !status) return std::unexpected(status.error());
  if (Result<void> written = writer_.engine.commit(batch); !written) {
    return std::unexpected(std::move(written.error()));
  }
  return out;
}

Result<std::vector<bool>> EmbeddedSendKeys::settle(std::span<const KeySettlement> keys,
                                                   std::optional<Instant> now) {
  if (keys.empty()) return std::vector<bool>{};
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return std::unexpected(ready.error());
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  const Instant moment = at(now);
  rocksdb::WriteBatch batch;
  QuotaWrites writes(*view, batch);
  std::vector<bool> out;
  out.reserve(keys.size());
  for (const KeySettlement& key : keys) {
    const std::string row = key_claim_key(key.user, key.key);
    Result<std::optional<KeyClaimRecord>> claim = read_key_claim(*view, row);
    if (!claim) return std::unexpected(std::move(claim.error()));
    out.push_back(*claim && stamp_of(**claim) == key.claim);
    if (!out.back()) continue;
    if (key.end == KeyEnd::left) {
      (*claim)->left = true;
      writes.put(Family::gateway_log, row, encode_key_claim(**claim));
      continue;
    }
    writes.remove(Family::gateway_log, row);
    if (key.end == KeyEnd::dropped) continue;
    writes.put(Family::gateway_log, send_key(key.user, key.key),
               encode_key({.at = moment, .digest = (*claim)->digest, .id = (*claim)->id}));
    writes.put(Family::gateway_log, key_time_key(moment, key.user, key.key), encode_quota_mark());
  }
  if (batch.Count() == 0) return out;
  if (Result<void> status = writes.status(); !status) return std::unexpected(status.error());
  if (Result<void> written = writer_.engine.commit(batch); !written) {
    return std::unexpected(std::move(written.error()));
  }
  return out;
}

}  // namespace penstock::store::embedded
