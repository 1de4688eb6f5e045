// LimitStore on Redis. In a cluster a request whose keys lie in several slots is first tried, then
// charged slot by slot, and given back if one denies after all: see docs/redis.md.
#pragma once

#include <string>

#include "engine/redis/client.h"
#include "store/limits/ports.h"
#include "store/limits/redis/decider.h"

namespace penstock::store::redis {

class Limits final : public LimitStore {
 public:
  // `client` outlives this.
  Limits(Client& client, std::string prefix, Millis deadline)
      : client_(client),
        decider_(client, prefix),
        prefix_(std::move(prefix)),
        deadline_(deadline) {}

  void apply(std::span<const LimitRequest> requests, std::optional<Instant> now,
             std::span<Result<LimitAnswer>> answers) override;
  // limit_reads.cc
  Result<bool> reset(std::string_view key) override;
  Result<std::optional<KeyUse>> find(std::string_view key, std::optional<Instant> now) override;
  Result<std::vector<KeyUse>> list(std::string_view after, std::size_t limit,
                                   std::optional<Instant> now) override;

 private:
  struct Spread;
  class Page;

  void apply_whole(std::span<const LimitRequest> requests, std::span<const std::size_t> which,
                   std::optional<Instant> now, const runtime::Deadline& deadline,
                   std::span<Result<LimitAnswer>> answers);
  void apply_spread(std::span<const LimitRequest> requests, std::span<const std::size_t> which,
                    std::optional<Instant> now, const runtime::Deadline& deadline,
                    std::span<Result<LimitAnswer>> answers);
  bool one_slot(const LimitRequest& request) const;
  Result<Instant> now_of(std::optional<Instant> now, const runtime::Deadline& deadline);
  Result<void> sweep(const Endpoint& master, Page& page, const runtime::Deadline& deadline);
  Result<void> add_values(std::span<const wire::RespValue> names, Page& page,
                          const runtime::Deadline& deadline);

  Client& client_;
  Decider decider_;
  const std::string prefix_;
  const Millis deadline_;  // of a decision
};

}  // namespace penstock::store::redis
