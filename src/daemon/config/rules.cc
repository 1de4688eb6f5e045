#include "daemon/config/load.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>

#include "base/nearest.h"
#include "engine/http/url.h"
#include "runtime/memory_budget.h"
#include "runtime/secret_file.h"
#include "store/limits/mariadb/mariadb_store.h"
#include "store/postgres/postgres_store.h"
#include "store/redis/store.h"

namespace penstock::daemon {
namespace {

bool is_set(const Settings& settings, std::string_view path) {
  return !std::holds_alternative<std::monostate>(settings.at(path).value);
}

// "penstock.yaml:3: http.listen", or just the key when its default is at fault.
std::string at(const Settings& settings, std::string_view path) {
  const Setting& setting = settings.at(path);
  if (setting.origin == kDefaultOrigin) return std::string(path);
  return fmt::format("{}: {}", setting.origin, path);
}

wire::ListenAddress listen_of(const Config& config) {
  return {config.http.address, config.http.port};
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

// A request takes about three times its body (front/http/server/session.h), and large requests
// leave an eighth of the budget to small ones: the largest must fit.
std::size_t memory_for_one(const Config& config) {
  const front::HttpLimits& limits = config.http.limits;
  return 4 * std::max({limits.body_bytes, limits.batch_body_bytes, limits.item_body_bytes});
}

// One config against the rules; each check stands for one sentence or a few of one subject.
class Rules {
 public:
  Rules(const Config& config, const Settings& settings) : config_(config), settings_(settings) {}

  RuleFindings check() {
    check_auth();
    check_resp();
    check_pair("http.tls.certificate-file", "http.tls.key-file");
    check_urls();
    check_engine("slots.store", config_.slots.store);
    check_engine("throttle.store", config_.throttle.store);
    check_engine("dispatch.store", config_.dispatch.store);
    check_usage_export();
    check_gateway();
    check_gateway_cache();
    check_retention();
    check_order("http.body-bytes-max", "http.batch-body-bytes-max");
    check_order("slots.batch-max", "slots.queue-max");
    check_memory();
    check_kafka();
    check_temporal();
    check_throttle();
    return std::move(findings_);
  }

 private:
  bool set(std::string_view path) const { return is_set(settings_, path); }
  std::string text(std::string_view path) const {
    const Setting& setting = settings_.at(path);
    return setting.key->format(setting.value);
  }
  // The sentence begins with where the setting stands.
  void problem(std::string_view path, std::string_view rest) {
    findings_.problems.push_back(at(settings_, path).append(rest));
  }
  void warn(std::string sentence) { findings_.warnings.push_back(std::move(sentence)); }

  void needs(std::string_view path, bool given, std::string_view other) {
    if (set(path) && !given) problem(path, fmt::format(" needs {}", other));
  }
  void needs(std::string_view path, std::string_view other) { needs(path, set(other), other); }

  void check_auth() {
    const bool admin = set("auth.admin-token-file");
    const bool api = set("auth.api-token-file");
    if (config_.auth.none()) {
      for (const std::string_view path : {"auth.admin-token-file", "auth.api-token-file"}) {
        if (!set(path)) continue;
        problem(path, fmt::format(" contradicts auth: none ({}): remove one of the two",
                                  settings_.at("auth").origin));
      }
    }
    const wire::ListenAddress listen = listen_of(config_);
    if (listen.loopback()) {
      if (api && !admin && !config_.auth.none()) {
        warn(
            "auth.api-token-file is set and auth.admin-token-file is not: /admin/** is open to "
            "everyone on this machine");
      }
    } else if (config_.auth.none()) {
      warn(
          fmt::format("auth: none on {}: everyone who can reach this address may use and "
                      "administer the daemon",
                      wire::format_listen(listen)));
    } else if (!admin || !api) {
      problem("http.listen",
              fmt::format(" is {}, which other machines can reach, and {}: set both, or listen on "
                          "127.0.0.1, or write `auth: none` to serve without tokens",
                          wire::format_listen(listen),
                          admin ? "auth.api-token-file is not set"
                          : api ? "auth.admin-token-file is not set"
                                : "neither auth.admin-token-file nor auth.api-token-file is set"));
    }
  }

  void check_resp() {
    constexpr std::string_view kListen = "resp.listen";
    if (!set(kListen)) return;
    const wire::ListenAddress listen{config_.resp.address, config_.resp.port};
    if (listen == listen_of(config_) && listen.port != 0) {
      problem(kListen, fmt::format(" is {}, which http.listen has already", text(kListen)));
    }
    if (listen.loopback() || set("resp.password-file")) return;
    if (config_.auth.none()) {
      warn(
          fmt::format("auth: none on {}: every Redis client that can reach this address may use "
                      "the daemon",
                      text(kListen)));
    } else {
      problem(kListen,
              fmt::format(" is {}, which other machines can reach, and resp.password-file is not "
                          "set: set it, or listen on 127.0.0.1, or write `auth: none` to serve "
                          "without a password",
                          text(kListen)));
    }
  }

  void check_pair(std::string_view certificate, std::string_view key) {
    if (set(certificate) == set(key)) return;
    const bool key_only = set(key);
    problem(key_only ? key : certificate,
            fmt::format(" needs {} too: TLS takes both files", key_only ? certificate : key));
  }

  // `small` must not exceed `large`; the message stands where the file says the offending value.
  void check_order(std::string_view small, std::string_view large) {
    const Setting& low = settings_.at(small);
    if (std::get<std::int64_t>(low.value) <= std::get<std::int64_t>(settings_.at(large).value)) {
      return;
    }
    const bool blame_high = low.origin == kDefaultOrigin;
    const std::string_view blamed = blame_high ? large : small;
    const std::string_view other = blame_high ? small : large;
    problem(blamed, fmt::format(" is {}, {} than {} ({})", text(blamed),
                                blame_high ? "less" : "more", other, text(other)));
  }

  void check_urls() {
    if (set("store.postgres.url")) {
      const Result<void> good = store::postgres::check_url(config_.postgres.url);
      if (!good) problem("store.postgres.url", " is not understood by libpq: " + told(good));
    }
    if (set("store.mariadb.url")) {
      const Result<void> good = store::mariadb::check_url(config_.mariadb.url);
      if (!good) problem("store.mariadb.url", " is not understood: " + told(good));
    }
    if (set("store.redis.url")) {
      const Result<void> good =
          store::redis::check_options({.url = config_.redis.url,
                                       .cluster = config_.redis.cluster,
                                       .ca_file = config_.redis.ca_file.string()});
      if (!good) problem("store.redis.url", ": " + told(good));
    }
    // What is set in vain.
    for (const Key& key : keys()) {
      if (key.used_with.empty() || !set(key.path()) || set(key.used_with)) continue;
      warn(fmt::format("{} is set and {} is not: nothing uses it", key.path(), key.used_with));
    }
  }
  static std::string told(const Result<void>& refused) {
    return without_password(refused.error().what);
  }

  // An engine that a service is told to use must have an address.
  void check_engine(std::string_view service, StoreChoice choice) {
    if (choice == StoreChoice::embedded) return;
    const std::string_view engine = Choices<StoreChoice>::names[static_cast<std::size_t>(choice)];
    const std::string url = fmt::format("store.{}.url", engine);
    if (!set(url)) problem(service, fmt::format(" is {}, which needs {}", engine, url));
  }

  void check_kafka() {
    constexpr std::string_view kBrokers = "kafka.brokers";
    const std::string& brokers = config_.kafka.brokers;
    if (set(kBrokers) && (brokers.find(' ') != brokers.npos ||
                          !std::ranges::all_of(split_list(brokers), is_host_and_port))) {
      problem(kBrokers, " must be host:port,host:port, not " + shown(brokers));
    }
    needs("kafka.intake.topics", kBrokers);
    check_pair("kafka.tls.certificate-file", "kafka.tls.key-file");
    for (const std::string_view path : {"kafka.tls.ca-file", "kafka.tls.certificate-file"}) {
      needs(path, config_.kafka.tls, "kafka.tls.enabled: true");
    }
    needs("kafka.sasl.mechanism", "kafka.sasl.username");
    needs("kafka.sasl.mechanism", "kafka.sasl.password-file");
  }

  void check_temporal() {
    constexpr std::string_view kAddress = "temporal.address";
    if (set(kAddress) && !is_host_and_port(config_.temporal.address)) {
      problem(kAddress, " must be host:port, not " + shown(config_.temporal.address));
    }
    check_pair("temporal.tls.certificate-file", "temporal.tls.key-file");
    for (const std::string_view path : {"temporal.tls.certificate-file", "temporal.tls.ca-file",
                                        "temporal.tls.server-name", "temporal.api-key-file"}) {
      needs(path, config_.temporal.tls, "temporal.tls.enabled: true");
    }
  }

  void check_retention() {
    constexpr std::string_view kDir = "slots.retention.archive-dir";
    if (!set(kDir)) return;
    needs(kDir, config_.slots.keep.has_value(),
          "slots.retention.keep: without it nothing is taken out");
    std::error_code ignored;
    if (!std::filesystem::is_directory(config_.slots.archive_dir, ignored)) {
      problem(kDir, ": there is no folder " + config_.slots.archive_dir.string());
    }
  }

  void check_usage_export() {
    const std::string& url = config_.gateway.usage_export.opensearch_url;
    if (url.empty() || http::parse_url(url)) return;
    problem("gateway.export.opensearch-url", " must be an http:// or https:// address");
  }

  // With the outbox a message and its quota are written in one step; behind another bus messages
  // wait in the queue of dispatch as well.
  void check_gateway() {
    const GatewayConfig& gateway = config_.gateway;
    if (gateway.store != config_.dispatch.store) {
      problem("gateway.store", " must be that of dispatch.store, where messages wait to be sent");
    }
    if (!is_topic(gateway.kafka_topic)) {
      problem("gateway.kafka.topic",
              " must be a topic: 1 to 249 letters, digits, dots, dashes and underscores");
    }
    if (gateway.bus != BusChoice::kafka) return;
    if (!set("kafka.brokers")) problem("gateway.bus", ": kafka needs kafka.brokers");
    if (config_.kafka.intake_topics.contains(gateway.kafka_topic)) {
      problem("kafka.intake.topics",
              fmt::format(" must not have {}, which the senders of the gateway take in",
                          gateway.kafka_topic));
    }
  }

  // The first thing that is missing.
  void check_gateway_cache() {
    if (config_.gateway.cache != CacheChoice::redis) return;
    constexpr std::string_view kCache = "gateway.cache";
    if (config_.gateway.bus == BusChoice::outbox) {
      problem(kCache,
              " is redis, which needs gateway.bus: kafka; with the outbox a message and its count "
              "are one write of the store, which a cache before it could not spare");
    } else if (config_.gateway.store != StoreChoice::postgres) {
      problem(kCache, " is redis, which needs gateway.store: postgres to keep what counts");
    } else if (!set("store.redis.url")) {
      problem(kCache, " is redis, which needs store.redis.url");
    }
  }

  void check_throttle() {
    if (config_.throttle.mode == ThrottleMode::embedded) {
      problem("throttle.mode",
              " is embedded, which is a library to link into your own program and no mode of the "
              "daemon: see docs/library.md, or write service");
    }
    // Words that only a trusted proxy can say, and nobody is trusted.
    const wire::FilterRules& filter = config_.throttle.filter;
    const bool needs_trust = std::ranges::any_of(filter.rules, [](const wire::KeyRule& rule) {
      return std::ranges::any_of(rule, [](wire::KeyPart part) {
        return part == wire::KeyPart::user || part == wire::KeyPart::route;
      });
    });
    if (!needs_trust || !filter.trusted_proxies.empty()) return;
    warn(
        "throttle.filter.rules has user or route, which only a proxy in "
        "throttle.filter.trusted-proxies is believed about, and that list is empty: those rules "
        "never apply");
  }

  void check_memory() {
    const std::size_t least = memory_for_one(config_);
    if (config_.memory_max >= least) return;
    const auto shown = [](std::size_t bytes) {
      return format_value(kBytes, static_cast<std::int64_t>(bytes));
    };
    problem("memory.max",
            fmt::format(" is {}, too little for one request: it must be at least {}, four times "
                        "the largest of http.body-bytes-max, http.batch-body-bytes-max and a body "
                        "with dispatch.context-bytes-max",
                        shown(config_.memory_max), shown(least)));
  }

  const Config& config_;
  const Settings& settings_;
  RuleFindings findings_;
};

std::string read_secret(const Settings& settings, const Key& key, RuleFindings& findings) {
  const std::string& file = std::get<std::string>(settings.at(key.path()).value);
  Result<runtime::SecretFile> read = key.read_secret(file);
  if (!read) {
    findings.problems.push_back(fmt::format("{}: {}", at(settings, key.path()), read.error().what));
    return {};
  }
  if (read->world_readable) {
    findings.warnings.push_back(fmt::format(
        "{}: everyone on this machine can read {} (mend with: chmod o-r)", key.path(), file));
  }
  return std::move(read->secret);
}

}  // namespace

void settle(Config& config, const Settings& settings) {
  config.http.guard.open_routes_by_any_name =
      config.auth.open_metrics && !listen_of(config).loopback();
  // A request may have 64 KiB beside the context of its item.
  config.http.limits.item_body_bytes = config.dispatch.context_bytes_max + std::size_t{64} * 1024;
  if (!is_set(settings, "resp.listen")) config.resp.address.clear();
  if (is_set(settings, "store.postgres.url")) {
    if (!is_set(settings, "slots.store")) config.slots.store = StoreChoice::postgres;
    if (!is_set(settings, "throttle.store")) config.throttle.store = StoreChoice::postgres;
    if (!is_set(settings, "dispatch.store")) config.dispatch.store = StoreChoice::postgres;
  }
  if (!is_set(settings, "gateway.store")) config.gateway.store = config.dispatch.store;
  if (!is_set(settings, "memory.max")) {
    config.memory_max = std::max({runtime::default_memory_budget(runtime::machine_memory_bytes()),
                                  memory_for_one(config),
                                  static_cast<std::size_t>(find_key("memory.max")->field.min)});
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
  return Rules(config, settings).check();
}

void take_files(Config& config, const Settings& settings, bool all, RuleFindings& findings) {
  for (const Key& key : keys()) {
    if (!is_set(settings, key.path()) || !(all || key.path().starts_with("store."))) continue;
    if (key.secret != nullptr && (key.used_with.empty() || is_set(settings, key.used_with))) {
      key.secret(config) = read_secret(settings, key, findings);
    }
    if (!key.readable) continue;
    const std::string& file = std::get<std::string>(settings.at(key.path()).value);
    if (::access(file.c_str(), R_OK) != 0) {
      findings.problems.push_back(fmt::format("{}: cannot read {}: {}", at(settings, key.path()),
                                              file, std::generic_category().message(errno)));
    }
  }
  front::HttpTokens& tokens = config.http.tokens;
  tokens.open_routes_need_token =
      all && !listen_of(config).loopback() && !config.auth.none() && !config.auth.open_metrics;
  if (!tokens.api.empty() && tokens.admin == tokens.api) {
    findings.warnings.push_back(
        "the admin token and the api token are the same: every client may administer the daemon");
  }
}

}  // namespace penstock::daemon
