// The settings of one daemon, as checked values: what load_config() gives. Plain data; made once at
// start-up, const from then on. The members' values here are the defaults; keys.cc has their names,
// ranges and help.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/describe.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/time.h"
#include "core/gateway/message.h"
#include "core/policy/policy.h"
#include "front/http/server/server.h"
#include "front/resp/server.h"
#include "wire/filter_keys.h"

namespace penstock::daemon {

enum class LogFormatChoice { automatic, text, json };
enum class StoreChoice { embedded, postgres, mariadb, redis };
enum class Durability : std::uint8_t { synced, relaxed };
enum class ThrottleMode : std::uint8_t { service, embedded };
enum class BusChoice : std::uint8_t { outbox, kafka };
enum class CacheChoice : std::uint8_t { none, redis };
enum class AuthWord : std::uint8_t { none };

struct AuthConfig {
  std::optional<AuthWord> word;
  std::filesystem::path admin_token_file;  // empty = not set
  std::filesystem::path api_token_file;
  bool open_metrics = false;  // health and metrics without a token on a non-loopback address too

  // `auth: none`: the operator wrote out that no token is wanted.
  bool none() const noexcept { return word.has_value(); }
};

struct LogConfig {
  LogLevel level = LogLevel::info;
  LogFormatChoice format = LogFormatChoice::automatic;

  // `automatic` is text when `fd` is a terminal, else JSON.
  LogFormat format_for(int fd) const noexcept;
};

struct EmbeddedStoreConfig {
  Durability durability = Durability::synced;  // relaxed: answers may leave before they are on disk
  std::size_t cache_bytes = std::size_t{64} << 20;
  std::size_t tables_open = 512;  // no setting: open_files.h fits it to what the system allows
};

struct PostgresConfig {
  std::string url;  // libpq URI or keywords; empty = not set
  std::filesystem::path password_file;
  std::string password;  // of the password file; empty = as libpq finds it
  // Batches of one pool take turns, so a few keep the server busy; one more listens for changes.
  std::size_t connections = 4;
  Millis deadline = Seconds{2};
};

struct MariadbConfig {
  std::string url;  // mysql://…; empty = not set
  std::filesystem::path password_file;
  std::string password;  // of the password file; empty = as the URL says
  std::size_t connections = 4;
};

struct RedisConfig {
  std::string url;  // redis:// or rediss://; empty = not set
  std::filesystem::path password_file;
  std::string password;  // of the password file; empty = as the URL says
  bool cluster = false;
  // Redis runs one script at a time: more batches on their way would only be smaller ones.
  std::size_t connections = 1;
  std::filesystem::path ca_file;  // empty = the system's
};

struct SlotsConfig {
  StoreChoice store = StoreChoice::embedded;  // when not given: PostgreSQL if it has a URL
  ConfigName default_config_name = ConfigName::trusted("default");
  Millis max_delay = std::chrono::days{1};
  // Requests waiting for the store; more are refused at once. About 15 MB and a second of work.
  std::size_t queue_max = 65'536;
  // In one atomic step of the store: large enough that one sync is shared by many, small enough
  // that a batch stays under 100 ms.
  std::size_t batch_max = 4'096;
  std::optional<Millis> keep;  // after the end of their window; not set = for ever
  Millis prune_interval = std::chrono::hours{1};
  std::filesystem::path archive_dir;  // empty = no copy of what is pruned
};

struct ThrottleConfig {
  ThrottleMode mode = ThrottleMode::service;
  StoreChoice store = StoreChoice::embedded;  // when not given: PostgreSQL if it has a URL
  Millis deadline{50};                        // of a decision by a shared engine
  std::size_t batches = 1;  // no setting: on their way to it at once, its number of connections
  std::size_t max_keys = 2'000'000;   // keys with usage in memory
  Millis save_interval = Seconds{1};  // between two savings of the usage to the store
  core::PolicyDraft default_policy = core::default_policy_draft();
  wire::FilterRules filter;
  bool tokens_remaining = false;  // the gauge per policy
};

struct DispatchConfig {
  StoreChoice store = StoreChoice::embedded;  // when not given: PostgreSQL if it has a URL
  std::size_t context_bytes_max = std::size_t{1} << 20;
  Millis id_retention = std::chrono::days{90};  // settled items are known so long
  bool refuse_private_addresses = false;
  std::filesystem::path ca_file;  // who may vouch for https sinks; empty = the system's
};

// Payments live in the store of dispatch.
struct PaymentsConfig {
  Millis retention = std::chrono::days{730};  // of payments and their items
};

struct KafkaConfig {
  std::string brokers;  // host:port,host:port; empty = not set
  bool tls = false;
  std::filesystem::path ca_file;  // empty = the system's
  std::filesystem::path certificate_file;
  std::filesystem::path key_file;
  std::string sasl_mechanism;  // empty = none
  std::string username;
  std::filesystem::path password_file;
  std::string password;  // of its file
  std::map<std::string, ItemType> intake_topics;
  std::string intake_group = "penstock";
  std::string dead_letter_suffix = ".dlq";
};

struct TemporalConfig {
  std::string address;  // host:port; empty = not set
  std::string namespace_name = "default";
  bool tls = false;
  std::filesystem::path ca_file;  // empty = the system's
  std::filesystem::path certificate_file;
  std::filesystem::path key_file;
  std::string server_name;
  std::filesystem::path api_key_file;
  std::string api_key;  // of its file; empty = none
};

// Usage handed on to a search engine. No URL = off.
struct UsageExportConfig {
  std::string opensearch_url;
  std::string index = "penstock-usage";
  std::string username;
  std::filesystem::path password_file;
  std::string password;           // of its file; empty = none
  std::filesystem::path ca_file;  // empty = the system's
  Millis interval = Seconds{10};
};

// The gateway's messages wait in the queue of dispatch, in the store of dispatch.
struct GatewayConfig {
  StoreChoice store = StoreChoice::embedded;  // when not given: that of dispatch
  BusChoice bus = BusChoice::outbox;
  std::string kafka_topic = "sms-outbound";
  int kafka_partitions = 4;
  std::string kafka_group = "penstock-sender";
  Millis kafka_publish_deadline = Seconds{5};
  CacheChoice cache = CacheChoice::none;
  core::MessageCost cost = core::MessageCost::message;
  core::AttemptDetail attempts = core::AttemptDetail::counts;
  Millis analytics_retention = std::chrono::days{30};
  UsageExportConfig usage_export;
};

struct Config {
  front::HttpOptions http{.port = 8080};  // with the tokens themselves: ready for the server
  front::RespOptions resp;                // with its password; no address = no such server
  std::filesystem::path resp_password_file;
  std::filesystem::path data_dir = "./penstock-data";
  std::size_t memory_max = 0;  // bytes of all work under way; when not given: by the machine's
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

// The words for the choices, in the order of their values.
namespace penstock {

template <>
struct Choices<LogLevel> {
  static constexpr std::array<std::string_view, 5> names{"debug", "info", "warn", "error", "off"};
};
template <>
struct Choices<daemon::LogFormatChoice> {
  static constexpr std::array<std::string_view, 3> names{"auto", "text", "json"};
};
template <>
struct Choices<daemon::StoreChoice> {
  static constexpr std::array<std::string_view, 4> names{"embedded", "postgres", "mariadb",
                                                         "redis"};
};
template <>
struct Choices<daemon::Durability> {
  static constexpr std::array<std::string_view, 2> names{"synced", "relaxed"};
};
template <>
struct Choices<daemon::ThrottleMode> {
  static constexpr std::array<std::string_view, 2> names{"service", "embedded"};
};
template <>
struct Choices<daemon::BusChoice> {
  static constexpr std::array<std::string_view, 2> names{"outbox", "kafka"};
};
template <>
struct Choices<daemon::CacheChoice> {
  static constexpr std::array<std::string_view, 2> names{"none", "redis"};
};
template <>
struct Choices<daemon::AuthWord> {
  static constexpr std::array<std::string_view, 1> names{"none"};
};
template <>
struct Choices<core::MessageCost> {
  static constexpr std::array<std::string_view, 2> names{"message", "segments"};
};
template <>
struct Choices<core::AttemptDetail> {
  static constexpr std::array<std::string_view, 3> names{"counts", "events", "texts"};
};

}  // namespace penstock
