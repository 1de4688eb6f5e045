// Policies on Redis, and the nodes that share them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/redis/client.h"
#include "store/limits/ports.h"

namespace penstock::store::redis {

// A version as bytes: doubles id, version, changed in micros, 1 if it is the end (written by
// lua/policy_change.lua), then the document of the draft. The decoder is total.
std::string encode_policy(const core::Policy& policy);
Result<core::Policy> decode_policy(std::string_view bytes);

// All policies in one slot, changed by one script. As durable as Redis is set up to be; what it
// loses, nodes that know it write back.
class Policies final : public PolicyStore, public PolicyRecovery {
 public:
  // `client` outlives this.
  Policies(Client& client, std::string_view prefix);

  Result<std::optional<core::Policy>> find(std::string_view key) override;
  Result<core::Policy> create(const core::PolicyDraft& draft, std::optional<Instant> now) override;
  Result<core::Policy> update(const core::PolicyDraft& draft, std::optional<Instant> now) override;
  Result<void> remove(std::string_view key, std::optional<Instant> now) override;
  Result<std::vector<core::Policy>> list(std::string_view after, std::size_t limit) override;
  Result<std::vector<core::Policy>> history(std::string_view key, std::size_t limit) override;
  Result<std::uint64_t> revision() override;
  PolicyRecovery* recovery() noexcept override { return this; }

  Result<Mark> mark() override;
  Result<std::vector<core::Policy>> newest() override;
  Result<std::size_t> restore(std::span<const core::Policy> versions) override;

 private:
  Result<core::Policy> change(std::string_view what, std::string_view key, std::string_view draft,
                              std::optional<Instant> now);
  Result<Reply> ask(const Command& command);
  Result<std::size_t> restore_page(std::span<const core::Policy> versions);
  std::string history_of(std::string_view key) const;

  Client& client_;
  const std::string tag_;
  const std::string newest_;
  const std::string names_;
  const std::string revision_;
  const std::string mark_;
};

// A sorted set by the server's time.
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
