// The settings of one daemon, as checked values: what load_config() gives. Plain data; made once at
// start-up, const from then on.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/log.h"
#include "base/time.h"
#include "core/gateway/message.h"
#include "core/policy/policy_rules.h"
#include "front/http/server.h"
#include "front/resp/server.h"
#include "wire/filter_keys.h"

namespace penstock::daemon {

enum class LogFormatChoice { automatic, text, json };
enum class StoreChoice { embedded, postgres, mariadb, redis };

struct AuthConfig {
  bool none = false;  // `auth: none`: the operator wrote out that no token is wanted
  std::filesystem::path admin_token_file;  // empty = not set
  std::filesystem::path api_token_file;
  bool open_metrics = false;  // health and metrics without a token on a non-loopback address too
};

struct LogConfig {
  LogLevel level = LogLevel::info;
  LogFormatChoice format = LogFormatChoice::automatic;

  // `automatic` is text when `fd` is a terminal, else JSON.
  LogFormat format_for(int fd) const noexcept;
};

struct EmbeddedStoreConfig {
  bool relaxed_durability = false;  // answers may leave before their batch is synced to disk
  std::size_t cache_bytes = 0;
  std::size_t tables_open = 512;  // no setting: open_files.h fits it to what the system allows
};

struct PostgresConfig {
  std::string url;       // libpq URI or keywords; empty = not set
  std::string password;  // of the password file; empty = as libpq finds it
  std::size_t connections = 0;
  Millis deadline{0};
};

struct MariadbConfig {
  std::string url;       // mysql://…; empty = not set
  std::string password;  // of the password file; empty = as the URL says
  std::size_t connections = 0;
};

struct RedisConfig {
  std::string url;       // redis:// or rediss://; empty = not set
  std::string password;  // of the password file; empty = as the URL says
  bool cluster = false;
  std::size_t connections = 0;
  std::filesystem::path ca_file;  // empty = the system's
};

struct SlotsConfig {
  StoreChoice store = StoreChoice::embedded;  // when not given: PostgreSQL if it has a URL
  ConfigName default_config_name;
  Millis max_delay{0};
  std::size_t queue_max = 0;   // requests waiting for the store; more are refused at once
  std::size_t batch_max = 0;   // requests in one atomic step of the store
  std::optional<Millis> keep;  // after the end of their window; not set = for ever
  Millis prune_interval{0};
  std::filesystem::path archive_dir;  // empty = no copy of what is pruned
};

struct ThrottleConfig {
  StoreChoice store = StoreChoice::embedded;  // when not given: PostgreSQL if it has a URL
  Millis deadline{0};                         // of a decision by a shared engine
  std::size_t batches = 1;   // on their way to it at once: its number of connections
  std::size_t max_keys = 0;  // keys with usage in memory
  Millis save_interval{0};   // between two savings of the usage to the store
  core::PolicyDraft default_policy = core::default_policy_draft();
  wire::FilterRules filter;
  bool tokens_remaining = false;  // the gauge per policy
};

struct DispatchConfig {
  StoreChoice store = StoreChoice::embedded;  // when not given: PostgreSQL if it has a URL
  std::size_t context_bytes_max = 0;
  Millis id_retention{0};  // settled items are known so long
  bool refuse_private_addresses = false;
  std::filesystem::path ca_file;  // who may vouch for https sinks; empty = the system's
};

// Payments live in the store of dispatch.
struct PaymentsConfig {
  Millis retention{0};  // of payments and their items
};

struct KafkaConfig {
  std::string brokers;  // host:port,host:port; empty = not set
  bool tls = false;
  std::filesystem::path ca_file;  // empty = the system's
  std::filesystem::path certificate_file;
  std::filesystem::path key_file;
  std::string sasl_mechanism;  // empty = none
  std::string username;
  std::string password;  // of its file
  std::map<std::string, ItemType> intake_topics;
  std::string intake_group;
  std::string dead_letter_suffix;
};

struct TemporalConfig {
  std::string address;  // host:port; empty = not set
  std::string namespace_name;
  bool tls = false;
  std::filesystem::path ca_file;  // empty = the system's
  std::filesystem::path certificate_file;
  std::filesystem::path key_file;
  std::string server_name;
  std::string api_key;  // of its file; empty = none
};

// Usage handed on to a search engine. No URL = off.
struct UsageExportConfig {
  std::string opensearch_url;
  std::string index;
  std::string username;
  std::string password;           // of its file; empty = none
  std::filesystem::path ca_file;  // empty = the system's
  Millis interval{0};
};

enum class BusChoice : std::uint8_t { outbox, kafka };
enum class CacheChoice : std::uint8_t { none, redis };

// The gateway's messages wait in the queue of dispatch, in the store of dispatch.
struct GatewayConfig {
  StoreChoice store = StoreChoice::embedded;  // when not given: that of dispatch
  BusChoice bus = BusChoice::outbox;
  std::string kafka_topic;
  int kafka_partitions = 0;
  std::string kafka_group;
  Millis kafka_publish_deadline{0};
  CacheChoice cache = CacheChoice::none;
  core::MessageCost cost = core::MessageCost::message;
  core::AttemptDetail attempts = core::AttemptDetail::counts;
  Millis analytics_retention{0};
  UsageExportConfig usage_export;
};

// Members have no defaults of their own where the table in keys.cc gives one.
struct Config {
  front::HttpOptions http;  // address, limits, TLS and the tokens themselves: ready for the server
  front::RespOptions resp;  // with its password; no address = no such server
  std::filesystem::path data_dir;
  std::size_t memory_max = 0;  // bytes of all work under way
  AuthConfig auth;
  LogConfig log;
  EmbeddedStoreConfig embedded;
  PostgresConfig postgres;
  MariadbConfig mariadb;
  RedisConfig redis;
  SlotsConfig slots;
  ThrottleConfig throttle;
  DispatchConfig dispatch;
  PaymentsConfig payments;
  KafkaConfig kafka;
  TemporalConfig temporal;
  GatewayConfig gateway;
};

}  // namespace penstock::daemon
