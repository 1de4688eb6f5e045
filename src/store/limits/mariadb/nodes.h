// NodeRegistry on the table node_alive. Thread-safe.
#pragma once

#include "engine/mariadb/pool.h"
#include "store/limits/ports.h"

namespace penstock::store::mariadb {

class Nodes final : public NodeRegistry {
 public:
  Nodes(Pool& pool, Millis deadline) : pool_(pool), deadline_(deadline) {}

  Result<std::size_t> beat(std::string_view node, Millis within) override;
  Result<void> leave(std::string_view node) override;

 private:
  Pool& pool_;
  const Millis deadline_;
};

}  // namespace penstock::store::mariadb
