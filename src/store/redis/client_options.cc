#include "store/redis/client_options.h"

#include <utility>

#include "engine/redis/url.h"

namespace penstock::store::redis {
namespace {

constexpr std::size_t kPrefixBytesMax = 64;
constexpr std::size_t kConnectionsMax = 1'000;

}  // namespace

Result<ClientOptions> plain_client_options(const RedisOptions& options) {
  Result<RedisUrl> url = parse_url(options.url);
  if (!url) return std::unexpected(std::move(url.error()));
  if (!options.cluster && url->endpoints.size() > 1) {
    return invalid_field("url", "names several hosts, which only a cluster has");
  }
  if (options.cluster && url->database != 0) {
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
      .connect = {.user = url->user,
                  .password = options.password.empty() ? url->password : options.password,
                  .database = url->database},
      .seeds = std::move(url->endpoints),
      .cluster = options.cluster,
      .connections = options.connections};
}

Result<ClientOptions> client_options(const RedisOptions& options) {
  Result<ClientOptions> client = plain_client_options(options);
  if (!client || !options.url.starts_with("rediss://")) return client;
  Result<std::shared_ptr<const TlsContext>> tls = TlsContext::make(options.ca_file);
  if (!tls) return std::unexpected(std::move(tls.error()));
  client->connect.tls = std::move(*tls);
  return client;
}

}  // namespace penstock::store::redis
