// One call of QuotaStore::send(): decides each message in order against what its user has left, and
// writes those that are taken with their quotas, keys and counts in one atomic step. For the thread
// that holds the writer's mutex; lives for one call.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/gateway/message.h"
#include "engine/rocksdb/records.h"
#include "store/embedded/writer.h"
#include "store/queue/embedded/enqueue_batch.h"
#include "store/quota/embedded/quota_encoding.h"
#include "store/quota/ports.h"

namespace penstock::store::embedded {

Result<std::optional<QuotaRecord>> read_quota(const Engine::View& view, UserId user);
Result<std::optional<KeyRecord>> read_key(const Engine::View& view, std::string_view row);
Result<std::optional<KeyClaimRecord>> read_key_claim(const Engine::View& view,
                                                     std::string_view row);
Result<UsageCounts> read_usage(const Engine::View& view, UserId user, Instant minute);

void put_quota(Changes& changes, UserId user, const QuotaRecord& record);
// Both rows of a minute.
void put_usage(Changes& changes, UserId user, Instant minute, const UsageCounts& counts);
// Both rows of a key that was accepted.
void put_key(Changes& changes, UserId user, std::string_view key, const KeyRecord& record);

// The quotas that one step looks at: each is read once, and written when it has changed.
class QuotaPages {
 public:
  struct Page {
    std::optional<QuotaRecord> record;  // none = no such user
    bool changed = false;
    std::optional<UsagePoint> moved;  // a minute that is over, with all that is known of it
  };

  explicit QuotaPages(const Engine::View& view) : view_(view) {}

  Result<Page*> of(UserId user);
  void put(Changes& changes) const;
  Result<void> commit(Engine& engine) const;

 private:
  const Engine::View& view_;
  std::map<UserId, Page> pages_;  // ascending: their rows are written so
};

class QuotaBatch {
 public:
  // All must outlive this.
  QuotaBatch(Writer& writer, EnqueueBatch& enqueue, const Engine::View& view,
             std::span<const Send> sends, std::optional<Instant> now)
      : writer_(writer),
        enqueue_(enqueue),
        view_(view),
        sends_(sends),
        now_(writer.at(now)),
        minute_(minute_of(now_)),
        key_term_(core::key_term(now)),
        pages_(view) {}

  std::vector<Result<Sent>> run();

 private:
  Result<Sent> decide(const Send& send);
  Result<std::optional<KeyRecord>*> key_of(const Send& send);
  Result<void> take(const Send& send, QuotaPages::Page& user, const Quota& next);
  Result<void> ride(std::span<const Result<Enqueued>> items, Changes& changes) const;

  Writer& writer_;
  EnqueueBatch& enqueue_;
  const Engine::View& view_;
  const std::span<const Send> sends_;
  const Instant now_;
  const Instant minute_;
  const Millis key_term_;
  QuotaPages pages_;
  std::unordered_map<std::string, std::optional<KeyRecord>> keys_;  // by row
  std::vector<const Send*> keyed_;                                  // taken, with a key
  std::vector<NewItem> items_;
};

}  // namespace penstock::store::embedded
