#include "store/redis/redis_store.h"

#include <algorithm>
#include <utility>

#include "store/limits/redis/limits.h"
#include "store/limits/redis/nodes.h"
#include "store/limits/redis/policies.h"
#include "store/quota/redis/quotas.h"
#include "store/redis/client_options.h"

namespace penstock::store::redis {
namespace {

// A probe asks often; half a second of silence is enough of an answer.
constexpr Millis kHealthDeadline{500};

class Health final : public StoreHealth {
 public:
  Health(Client& client, std::string prefix) : client_(client), prefix_(std::move(prefix)) {}

  // Every master has to answer: a cluster that lacks one cannot decide about its keys.
  Result<void> check() override {
    const runtime::Deadline deadline(kHealthDeadline);
    if (!client_.cluster()) return answer_of(client_.run_one(ping(prefix_), deadline));
    const Result<std::vector<Endpoint>> masters = client_.masters(deadline);
    if (!masters) return std::unexpected(masters.error());
    for (const Endpoint& master : *masters) {
      if (Result<void> alive = answer_of(client_.run_at(master, ping("").request, deadline));
          !alive) {
        return alive;
      }
    }
    return {};
  }

 private:
  static Command ping(std::string_view key) { return command_of(key, {"PING"}); }
  static Result<void> answer_of(const Result<Reply>& reply) {
    if (!reply) return std::unexpected(reply.error());
    return {};
  }

  Client& client_;
  const std::string prefix_;
};

}  // namespace

struct RedisStore::Parts {
  Parts(ClientOptions client_options, const RedisOptions& options, Log* log)
      : quota_client(client_options, nullptr),
        client(std::move(client_options), log),
        limits(client, options.key_prefix, options.deadline),
        policies(client, options.key_prefix),
        nodes(client, options.key_prefix),
        quotas(quota_client, options.deadline),
        health(client, options.key_prefix) {}

  // Of the gateway's cache alone, opened when it is used: it takes a call that fails for an outage,
  // and reports those itself.
  Client quota_client;
  Client client;
  Limits limits;
  Policies policies;
  Nodes nodes;
  Quotas quotas;
  Health health;
};

Result<void> check_options(const RedisOptions& options) {
  const Result<ClientOptions> good = plain_client_options(options);
  if (!good) return std::unexpected(good.error());
  return {};
}

RedisStore::RedisStore(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}
RedisStore::~RedisStore() = default;

Result<std::unique_ptr<RedisStore>> RedisStore::open(const RedisOptions& options, Log* log) {
  Result<ClientOptions> client = client_options(options);
  if (!client) return std::unexpected(std::move(client.error()));
  return std::unique_ptr<RedisStore>(
      new RedisStore(std::make_unique<Parts>(std::move(*client), options, log)));
}

Backend RedisStore::backend() noexcept {
  return {
      .name = "redis",
      .health = &parts_->health,
      .limits = {.store = &parts_->limits, .policies = &parts_->policies, .nodes = &parts_->nodes},
      .quota = {.cache = &parts_->quotas}};
}

}  // namespace penstock::store::redis
