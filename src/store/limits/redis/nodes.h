// NodeRegistry on Redis: a sorted set by the server's time.
#pragma once

#include <string>

#include "engine/redis/client.h"
#include "store/limits/ports.h"

namespace penstock::store::redis {

class Nodes final : public NodeRegistry {
 public:
  // `client` outlives this.
  Nodes(Client& client, std::string_view prefix)
      : client_(client), name_("{" + std::string(prefix) + "nodes}") {}

  Result<std::size_t> beat(std::string_view node, Millis within) override;
  Result<void> leave(std::string_view node) override;

 private:
  Client& client_;
  const std::string name_;
};

}  // namespace penstock::store::redis
