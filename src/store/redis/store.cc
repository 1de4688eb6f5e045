#include "store/redis/store.h"

#include <algorithm>
#include <utility>

#include "engine/redis/url.h"
#include "store/limits/redis/limits.h"
#include "store/limits/redis/policies.h"
#include "store/quota/redis/quotas.h"

namespace penstock::store::redis {
namespace {

// A probe asks often; half a second of silence is enough of an answer.
constexpr Millis kHealthDeadline{500};
constexpr std::size_t kPrefixBytesMax = 64;
constexpr std::size_t kConnectionsMax = 1'000;

// Without the certificates that a rediss:// URL needs.
Result<ClientOptions> plain_client_options(const RedisOptions& options) {
  RedisUrl url = PENSTOCK_TRY(parse_url(options.url));
  if (!options.cluster && url.endpoints.size() > 1) {
    return invalid_field("url", "names several hosts, which only a cluster has");
  }
  if (options.cluster && url.database != 0) {
    return invalid_field("url", "names a database, which a cluster does not have");
  }
  if (options.connections < 1 || options.connections > kConnectionsMax) {
    return invalid_field("connections", "must be from 1 to 1000");
  }
  if (options.deadline < Millis{1}) return invalid_field("deadline", "must be at least 1 ms");
  const std::string& prefix = options.key_prefix;
  if (prefix.empty() || prefix.size() > kPrefixBytesMax ||
      prefix.find_first_of("{}") != prefix.npos) {
    return invalid_field("key-prefix", "must have from 1 to 64 bytes and no braces");
  }
  return ClientOptions{
      .connect = {.user = url.user,
                  .password = options.password.empty() ? url.password : options.password,
                  .database = url.database},
      .seeds = std::move(url.endpoints),
      .cluster = options.cluster,
      .connections = options.connections};
}

class Health final : public StoreHealth {
 public:
  Health(Client& client, std::string prefix) : client_(client), prefix_(std::move(prefix)) {}

  // Every master has to answer: a cluster that lacks one cannot decide about its keys.
  Result<void> check() override {
    const runtime::Deadline deadline(kHealthDeadline);
    if (!client_.cluster()) {
      PENSTOCK_TRY(client_.run_one(ping(prefix_), deadline));
      return {};
    }
    return client_.run_at_masters(ping("").request, deadline);
  }

 private:
  static Command ping(std::string_view key) { return command_of(key, {"PING"}); }

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

Result<ClientOptions> client_options(const RedisOptions& options) {
  ClientOptions client = PENSTOCK_TRY(plain_client_options(options));
  if (options.url.starts_with("rediss://")) {
    client.connect.tls = PENSTOCK_TRY(TlsContext::make(options.ca_file));
  }
  return client;
}

Result<void> check_options(const RedisOptions& options) {
  PENSTOCK_TRY(plain_client_options(options));
  return {};
}

RedisStore::RedisStore(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}
RedisStore::~RedisStore() = default;

Result<std::unique_ptr<RedisStore>> RedisStore::open(const RedisOptions& options, Log* log) {
  ClientOptions client = PENSTOCK_TRY(client_options(options));
  return std::unique_ptr<RedisStore>(
      new RedisStore(std::make_unique<Parts>(std::move(client), options, log)));
}

Backend RedisStore::backend() noexcept {
  return {
      .name = "redis",
      .health = &parts_->health,
      .limits = {.store = &parts_->limits, .policies = &parts_->policies, .nodes = &parts_->nodes},
      .quota = {.cache = &parts_->quotas}};
}

}  // namespace penstock::store::redis
