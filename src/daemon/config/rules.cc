#include "daemon/config/rules.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

#include "base/nearest.h"
#include "daemon/config/intake_values.h"
#include "engine/http/url.h"
#include "runtime/memory_budget.h"
#include "runtime/secret_file.h"
#include "store/limits/mariadb/mariadb_store.h"
#include "store/postgres/postgres_store.h"
#include "store/redis/redis_store.h"

namespace penstock::daemon {
namespace {

// "penstock.yaml:3: http.listen", or just the key when its default is at fault.
std::string at(const Settings& settings, std::string_view path) {
  const Setting& setting = settings.at(path);
  if (setting.origin == kDefaultOrigin) return std::string(path);
  return fmt::format("{}: {}", setting.origin, path);
}

bool is_set(const Settings& settings, std::string_view path) {
  return !std::holds_alternative<std::monostate>(settings.at(path).value);
}

wire::ListenAddress listen_of(const Config& config) {
  return {config.http.address, config.http.port};
}

void check_auth(const Config& config, const Settings& settings, RuleFindings& findings) {
  const bool admin = is_set(settings, "auth.admin-token-file");
  const bool api = is_set(settings, "auth.api-token-file");
  if (config.auth.none) {
    for (const std::string_view path : {"auth.admin-token-file", "auth.api-token-file"}) {
      if (is_set(settings, path)) {
        findings.problems.push_back(
            fmt::format("{} contradicts auth: none ({}): remove one of the two", at(settings, path),
                        settings.at("auth").origin));
      }
    }
  }
  const wire::ListenAddress listen = listen_of(config);
  if (listen.loopback()) {
    if (api && !admin && !config.auth.none) {
      findings.warnings.push_back(
          "auth.api-token-file is set and auth.admin-token-file is not: /admin/** is open to "
          "everyone on this machine");
    }
    return;
  }
  if (config.auth.none) {
    findings.warnings.push_back(
        fmt::format("auth: none on {}: everyone who can reach this address may use and administer "
                    "the daemon",
                    wire::format_listen(listen)));
  } else if (!admin || !api) {
    const std::string_view missing =
        admin ? "auth.api-token-file is not set"
              : (api ? "auth.admin-token-file is not set"
                     : "neither auth.admin-token-file nor auth.api-token-file is set");
    findings.problems.push_back(
        fmt::format("{} is {}, which other machines can reach, and {}: set both, or listen on "
                    "127.0.0.1, or write `auth: none` to serve without tokens",
                    at(settings, "http.listen"), wire::format_listen(listen), missing));
  }
}

void check_resp(const Config& config, const Settings& settings, RuleFindings& findings) {
  constexpr std::string_view kPassword = "resp.password-file";
  const bool password = is_set(settings, kPassword);
  if (!is_set(settings, "resp.listen")) {
    if (password) {
      findings.warnings.push_back(
          fmt::format("{} is set and resp.listen is not: nothing uses it", kPassword));
    }
    return;
  }
  const wire::ListenAddress listen{config.resp.address, config.resp.port};
  if (listen == listen_of(config) && listen.port != 0) {
    findings.problems.push_back(fmt::format("{} is {}, which http.listen has already",
                                            at(settings, "resp.listen"),
                                            wire::format_listen(listen)));
  }
  if (listen.loopback() || password) return;
  if (config.auth.none) {
    findings.warnings.push_back(
        fmt::format("auth: none on {}: every Redis client that can reach this address may use the "
                    "daemon",
                    wire::format_listen(listen)));
  } else {
    findings.problems.push_back(fmt::format(
        "{} is {}, which other machines can reach, and {} is not set: set it, or listen "
        "on 127.0.0.1, or write `auth: none` to serve without a password",
        at(settings, "resp.listen"), wire::format_listen(listen), kPassword));
  }
}

void check_pair(const Settings& settings, RuleFindings& findings, std::string_view certificate,
                std::string_view key) {
  if (is_set(settings, certificate) == is_set(settings, key)) return;
  const bool key_only = is_set(settings, key);
  findings.problems.push_back(fmt::format("{} needs {} too: TLS takes both files",
                                          at(settings, key_only ? key : certificate),
                                          key_only ? certificate : key));
}

// `small` must not exceed `large`; the message stands where the file says the offending value.
void check_order(const Settings& settings, RuleFindings& findings, std::string_view small,
                 std::string_view large) {
  const Setting& low = settings.at(small);
  const Setting& high = settings.at(large);
  if (std::get<std::int64_t>(low.value) <= std::get<std::int64_t>(high.value)) return;
  const bool blame_high = low.origin == kDefaultOrigin;
  findings.problems.push_back(
      fmt::format("{} is {}, {} than {} ({})", at(settings, blame_high ? large : small),
                  format_value(low.key->type, blame_high ? high.value : low.value),
                  blame_high ? "less" : "more", blame_high ? small : large,
                  format_value(low.key->type, blame_high ? low.value : high.value)));
}

void check_postgres(const Config& config, const Settings& settings, RuleFindings& findings) {
  constexpr std::string_view kUrl = "store.postgres.url";
  if (is_set(settings, kUrl)) {
    if (const Result<void> url = store::postgres::check_url(config.postgres.url); !url) {
      findings.problems.push_back(fmt::format("{} is not understood by libpq: {}",
                                              at(settings, kUrl),
                                              without_password(url.error().what)));
    }
    return;
  }
  if (is_set(settings, "store.postgres.password-file")) {
    findings.warnings.push_back(
        fmt::format("store.postgres.password-file is set and {} is not: nothing uses it", kUrl));
  }
}

void check_mariadb(const Config& config, const Settings& settings, RuleFindings& findings) {
  constexpr std::string_view kUrl = "store.mariadb.url";
  if (is_set(settings, kUrl)) {
    if (const Result<void> url = store::mariadb::check_url(config.mariadb.url); !url) {
      findings.problems.push_back(
          fmt::format("{} is not understood: {}", at(settings, kUrl), url.error().what));
    }
  } else if (is_set(settings, "store.mariadb.password-file")) {
    findings.warnings.push_back(
        fmt::format("store.mariadb.password-file is set and {} is not: nothing uses it", kUrl));
  }
}

void check_redis(const Config& config, const Settings& settings, RuleFindings& findings) {
  constexpr std::string_view kUrl = "store.redis.url";
  if (!is_set(settings, kUrl)) return;
  const Result<void> good = store::redis::check_options({.url = config.redis.url,
                                                         .cluster = config.redis.cluster,
                                                         .ca_file = config.redis.ca_file.string()});
  if (good) return;
  findings.problems.push_back(
      fmt::format("{}: {}", at(settings, kUrl), without_password(good.error().what)));
}

// An engine that a service is told to use must have an address.
void check_engine(const Settings& settings, std::string_view service, StoreChoice choice,
                  RuleFindings& findings) {
  struct Engine {
    StoreChoice choice;
    std::string_view name;
    std::string_view url;
  };
  constexpr std::array kEngines{
      Engine{StoreChoice::postgres, "postgres", "store.postgres.url"},
      Engine{StoreChoice::mariadb, "mariadb", "store.mariadb.url"},
      Engine{StoreChoice::redis, "redis", "store.redis.url"},
  };
  for (const Engine& engine : kEngines) {
    if (choice != engine.choice || is_set(settings, engine.url)) continue;
    findings.problems.push_back(
        fmt::format("{} is {}, which needs {}", at(settings, service), engine.name, engine.url));
  }
}

// "host:port", as gRPC and Kafka clients take it.
bool is_host_and_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos || colon == 0 || text.find("//") != text.npos) return false;
  if (text.find_first_of(" ,@") != text.npos) return false;
  int port = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + colon + 1, end, port);
  return read.ec == std::errc{} && read.ptr == end && port >= 1 && port <= 65'535;
}

void check_kafka(const Config& config, const Settings& settings, RuleFindings& findings) {
  constexpr std::string_view kBrokers = "kafka.brokers";
  std::string_view rest = config.kafka.brokers;
  while (is_set(settings, kBrokers)) {
    const std::string_view first = rest.substr(0, rest.find(','));
    if (!is_host_and_port(first)) {
      findings.problems.push_back(fmt::format("{} must be host:port,host:port, not {}",
                                              at(settings, kBrokers), shown(config.kafka.brokers)));
      break;
    }
    if (first.size() == rest.size()) break;
    rest.remove_prefix(first.size() + 1);
  }
  const auto needs = [&](std::string_view path, bool given, std::string_view other) {
    if (!is_set(settings, path) || given) return;
    findings.problems.push_back(fmt::format("{} needs {}", at(settings, path), other));
  };
  needs("kafka.intake.topics", is_set(settings, kBrokers), kBrokers);
  check_pair(settings, findings, "kafka.tls.certificate-file", "kafka.tls.key-file");
  for (const std::string_view path : {"kafka.tls.ca-file", "kafka.tls.certificate-file"}) {
    needs(path, config.kafka.tls, "kafka.tls.enabled: true");
  }
  needs("kafka.sasl.mechanism", is_set(settings, "kafka.sasl.username"), "kafka.sasl.username");
  needs("kafka.sasl.mechanism", is_set(settings, "kafka.sasl.password-file"),
        "kafka.sasl.password-file");
}

void check_temporal(const Config& config, const Settings& settings, RuleFindings& findings) {
  constexpr std::string_view kAddress = "temporal.address";
  if (is_set(settings, kAddress) && !is_host_and_port(config.temporal.address)) {
    findings.problems.push_back(fmt::format("{} must be host:port, not {}", at(settings, kAddress),
                                            shown(config.temporal.address)));
  }
  constexpr std::string_view kCertificate = "temporal.tls.certificate-file";
  constexpr std::string_view kKey = "temporal.tls.key-file";
  check_pair(settings, findings, kCertificate, kKey);
  if (config.temporal.tls) return;
  for (const std::string_view path :
       {kCertificate, std::string_view("temporal.tls.ca-file"),
        std::string_view("temporal.tls.server-name"), std::string_view("temporal.api-key-file")}) {
    if (!is_set(settings, path)) continue;
    findings.problems.push_back(
        fmt::format("{} needs temporal.tls.enabled: true", at(settings, path)));
  }
}

void check_retention(const Config& config, const Settings& settings, RuleFindings& findings) {
  constexpr std::string_view kDir = "slots.retention.archive-dir";
  if (!is_set(settings, kDir)) return;
  if (!config.slots.keep) {
    findings.problems.push_back(fmt::format(
        "{} needs slots.retention.keep: without it nothing is taken out", at(settings, kDir)));
  }
  std::error_code ignored;
  if (!std::filesystem::is_directory(config.slots.archive_dir, ignored)) {
    findings.problems.push_back(fmt::format("{}: there is no folder {}", at(settings, kDir),
                                            config.slots.archive_dir.string()));
  }
}

void check_usage_export(const Config& config, const Settings& settings, RuleFindings& findings) {
  const UsageExportConfig& usage = config.gateway.usage_export;
  constexpr std::string_view kUrl = "gateway.export.opensearch-url";
  if (usage.opensearch_url.empty()) return;
  if (!http::parse_url(usage.opensearch_url)) {
    findings.problems.push_back(
        fmt::format("{} must be an http:// or https:// address", at(settings, kUrl)));
  }
}

// With the outbox a message and its quota are written in one step; behind another bus messages wait
// in the queue of dispatch as well.
void check_gateway(const Config& config, const Settings& settings, RuleFindings& findings) {
  check_usage_export(config, settings, findings);
  if (config.gateway.store != config.dispatch.store) {
    findings.problems.push_back(
        fmt::format("{} must be that of dispatch.store, where messages wait to be sent",
                    at(settings, "gateway.store")));
  }
  constexpr std::string_view kTopic = "gateway.kafka.topic";
  if (!is_topic(config.gateway.kafka_topic)) {
    findings.problems.push_back(
        fmt::format("{} must be a topic: 1 to 249 letters, digits, dots, dashes and underscores",
                    at(settings, kTopic)));
  }
  if (config.gateway.bus != BusChoice::kafka) return;
  if (!is_set(settings, "kafka.brokers")) {
    findings.problems.push_back(
        fmt::format("{}: kafka needs kafka.brokers", at(settings, "gateway.bus")));
  }
  if (config.kafka.intake_topics.contains(config.gateway.kafka_topic)) {
    findings.problems.push_back(
        fmt::format("{} must not have {}, which the senders of the gateway take in",
                    at(settings, "kafka.intake.topics"), config.gateway.kafka_topic));
  }
}

// The first thing that is missing.
void check_gateway_cache(const Config& config, const Settings& settings, RuleFindings& findings) {
  if (config.gateway.cache != CacheChoice::redis) return;
  constexpr std::string_view kCache = "gateway.cache";
  if (config.gateway.bus == BusChoice::outbox) {
    findings.problems.push_back(fmt::format(
        "{} is redis, which needs gateway.bus: kafka; with the outbox a message and its count are "
        "one write of the store, which a cache before it could not spare",
        at(settings, kCache)));
  } else if (config.gateway.store != StoreChoice::postgres) {
    findings.problems.push_back(
        fmt::format("{} is redis, which needs gateway.store: postgres to keep what counts",
                    at(settings, kCache)));
  } else if (!is_set(settings, "store.redis.url")) {
    findings.problems.push_back(
        fmt::format("{} is redis, which needs store.redis.url", at(settings, kCache)));
  }
}

void check_mode(const Settings& settings, RuleFindings& findings) {
  constexpr std::string_view kMode = "throttle.mode";
  if (std::get<std::string>(settings.at(kMode).value) != "embedded") return;
  findings.problems.push_back(
      fmt::format("{} is embedded, which is a library to link into your own program and no mode of "
                  "the daemon: see docs/library.md, or write service",
                  at(settings, kMode)));
}

// Rules whose words only a trusted proxy can say, and nobody is trusted: they would never apply.
void check_filter(const Config& config, RuleFindings& findings) {
  const wire::FilterRules& filter = config.throttle.filter;
  if (!filter.trusted_proxies.empty()) return;
  const bool needs_trust = std::ranges::any_of(filter.rules, [](const wire::KeyRule& rule) {
    return std::ranges::any_of(rule, [](wire::KeyPart part) {
      return part == wire::KeyPart::user || part == wire::KeyPart::route;
    });
  });
  if (!needs_trust) return;
  findings.warnings.push_back(
      "throttle.filter.rules has user or route, which only a proxy in "
      "throttle.filter.trusted-proxies is believed about, and that list is empty: those rules "
      "never apply");
}

// A request takes about three times its body (front/http/session.h), and large requests leave an
// eighth of the budget to small ones: the largest must fit.
std::size_t memory_for_one(const Config& config) {
  const front::HttpLimits& limits = config.http.limits;
  return 4 * std::max({limits.body_bytes, limits.batch_body_bytes, limits.item_body_bytes});
}

void check_memory(const Config& config, const Settings& settings, RuleFindings& findings) {
  const std::size_t least = memory_for_one(config);
  if (config.memory_max >= least) return;
  const Setting& setting = settings.at("memory.max");
  const auto shown = [&](std::size_t bytes) {
    return format_value(setting.key->type, static_cast<std::int64_t>(bytes));
  };
  findings.problems.push_back(
      fmt::format("{} is {}, too little for one request: it must be at least {}, four times the "
                  "largest of http.body-bytes-max, http.batch-body-bytes-max and a body with "
                  "dispatch.context-bytes-max",
                  at(settings, "memory.max"), shown(config.memory_max), shown(least)));
}

using ReadSecret = Result<runtime::SecretFile> (*)(const std::filesystem::path&);

std::string take_secret(const Settings& settings, std::string_view path, ReadSecret read_secret,
                        RuleFindings& findings) {
  if (!is_set(settings, path)) return {};
  const std::string& file = std::get<std::string>(settings.at(path).value);
  Result<runtime::SecretFile> read = read_secret(file);
  if (!read) {
    findings.problems.push_back(fmt::format("{}: {}", at(settings, path), read.error().what));
    return {};
  }
  if (read->world_readable) {
    findings.warnings.push_back(
        fmt::format("{}: everyone on this machine can read {} (mend with: chmod o-r)", path, file));
  }
  return std::move(read->secret);
}

}  // namespace

void settle(Config& config, const Settings& settings) {
  config.http.guard.open_routes_by_any_name =
      config.auth.open_metrics && !listen_of(config).loopback();
  if (is_set(settings, "store.postgres.url")) {
    if (!is_set(settings, "slots.store")) config.slots.store = StoreChoice::postgres;
    if (!is_set(settings, "throttle.store")) config.throttle.store = StoreChoice::postgres;
    if (!is_set(settings, "dispatch.store")) config.dispatch.store = StoreChoice::postgres;
  }
  if (!is_set(settings, "gateway.store")) config.gateway.store = config.dispatch.store;
  if (!is_set(settings, "memory.max")) {
    config.memory_max = std::max({runtime::default_memory_budget(runtime::machine_memory_bytes()),
                                  memory_for_one(config),
                                  static_cast<std::size_t>(find_key("memory.max")->type.min)});
  }
  switch (config.throttle.store) {
    case StoreChoice::embedded:
      break;
    case StoreChoice::postgres:
      config.throttle.batches = config.postgres.connections;
      break;
    case StoreChoice::mariadb:
      config.throttle.batches = config.mariadb.connections;
      break;
    case StoreChoice::redis:
      config.throttle.batches = config.redis.connections;
      break;
  }
}

RuleFindings validate(const Config& config, const Settings& settings) {
  RuleFindings findings;
  check_auth(config, settings, findings);
  check_resp(config, settings, findings);
  check_pair(settings, findings, "http.tls.certificate-file", "http.tls.key-file");
  check_postgres(config, settings, findings);
  check_mariadb(config, settings, findings);
  check_redis(config, settings, findings);
  check_engine(settings, "slots.store", config.slots.store, findings);
  check_engine(settings, "throttle.store", config.throttle.store, findings);
  check_engine(settings, "dispatch.store", config.dispatch.store, findings);
  check_gateway(config, settings, findings);
  check_gateway_cache(config, settings, findings);
  check_retention(config, settings, findings);
  check_order(settings, findings, "http.body-bytes-max", "http.batch-body-bytes-max");
  check_order(settings, findings, "slots.batch-max", "slots.queue-max");
  check_memory(config, settings, findings);
  check_kafka(config, settings, findings);
  check_temporal(config, settings, findings);
  check_mode(settings, findings);
  check_filter(config, findings);
  return findings;
}

void take_passwords(Config& config, const Settings& settings, RuleFindings& findings) {
  const auto take = [&](const std::string& url, std::string_view file, std::string& password) {
    if (!url.empty()) password = take_secret(settings, file, runtime::read_password_file, findings);
  };
  take(config.postgres.url, "store.postgres.password-file", config.postgres.password);
  take(config.mariadb.url, "store.mariadb.password-file", config.mariadb.password);
  take(config.redis.url, "store.redis.password-file", config.redis.password);
}

void take_secret_files(Config& config, const Settings& settings, RuleFindings& findings) {
  front::HttpTokens& tokens = config.http.tokens;
  tokens.admin = take_secret(settings, "auth.admin-token-file", runtime::read_token_file, findings);
  tokens.api = take_secret(settings, "auth.api-token-file", runtime::read_token_file, findings);
  tokens.open_routes_need_token =
      !listen_of(config).loopback() && !config.auth.none && !config.auth.open_metrics;
  if (!tokens.api.empty() && tokens.admin == tokens.api) {
    findings.warnings.push_back(
        "the admin token and the api token are the same: every client may administer the daemon");
  }
  if (is_set(settings, "resp.listen")) {
    config.resp.password =
        take_secret(settings, "resp.password-file", runtime::read_password_file, findings);
  }
  config.kafka.password =
      take_secret(settings, "kafka.sasl.password-file", runtime::read_password_file, findings);
  config.gateway.usage_export.password =
      take_secret(settings, "gateway.export.password-file", runtime::read_password_file, findings);
  config.temporal.api_key =
      take_secret(settings, "temporal.api-key-file", runtime::read_key_file, findings);
  for (const std::string_view path :
       {"http.tls.certificate-file", "http.tls.key-file", "kafka.tls.ca-file",
        "kafka.tls.certificate-file", "kafka.tls.key-file", "temporal.tls.ca-file",
        "temporal.tls.certificate-file", "temporal.tls.key-file", "gateway.export.ca-file"}) {
    if (!is_set(settings, path)) continue;
    const std::string& file = std::get<std::string>(settings.at(path).value);
    if (::access(file.c_str(), R_OK) != 0) {
      findings.problems.push_back(fmt::format("{}: cannot read {}: {}", at(settings, path), file,
                                              std::generic_category().message(errno)));
    }
  }
}

}  // namespace penstock::daemon
