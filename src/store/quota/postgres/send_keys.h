// SendKeys on PostgreSQL: each call is one statement. Thread-safe.
#pragma once

#include "engine/postgres/pool.h"
#include "store/quota/ports.h"

namespace penstock::store::postgres {

class PostgresSendKeys final : public SendKeys {
 public:
  // `pool` must outlive this: of connections whose commits wait for the disk. `deadline` bounds
  // each call.
  PostgresSendKeys(Pool& pool, Millis deadline) : pool_(pool), deadline_(deadline) {}

  Result<std::vector<KeyView>> look(std::span<const KeyClaim> keys, Millis live,
                                    std::optional<Instant> now) override;
  Result<std::vector<KeyView>> claim(std::span<const KeyClaim> keys, Millis live,
                                     std::optional<Instant> now) override;
  Result<std::vector<bool>> settle(std::span<const KeySettlement> keys,
                                   std::optional<Instant> now) override;

 private:
  Pool& pool_;
  const Millis deadline_;
};

}  // namespace penstock::store::postgres
