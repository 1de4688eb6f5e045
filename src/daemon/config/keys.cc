#include "daemon/config/keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/pfr/tuple_size.hpp>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "core/limits/limit.h"
#include "core/policy/policy.h"
#include "core/slots/slot_config.h"

namespace penstock {

// How the types of settings show as values of the table.
template <>
struct FieldAs<std::filesystem::path> {
  static constexpr FieldKind kind = FieldKind::text;
  static FieldValue out(const std::filesystem::path& value) { return value.string(); }
  static Result<void> in(std::filesystem::path& to, FieldValue&& value) {
    to = std::get<std::string>(std::move(value));
    return {};
  }
};

template <class List, auto parse, auto format>
struct ListAs {
  static constexpr FieldKind kind = FieldKind::texts;
  static FieldValue out(const List& value) { return format(value); }
  static Result<void> in(List& to, FieldValue&& value) {
    auto parsed = parse(std::get<std::vector<std::string>>(value));
    PENSTOCK_CHECK(parsed.has_value());
    to = *std::move(parsed);
    return {};
  }
};
template <>
struct FieldAs<std::vector<wire::CidrBlock>>
    : ListAs<std::vector<wire::CidrBlock>, daemon::parse_address_blocks,
             daemon::format_address_blocks> {};
template <>
struct FieldAs<std::vector<wire::KeyRule>>
    : ListAs<std::vector<wire::KeyRule>, daemon::parse_key_rules, daemon::format_key_rules> {};
template <>
struct FieldAs<std::map<std::string, ItemType>>
    : ListAs<std::map<std::string, ItemType>, daemon::parse_intake_topics,
             daemon::format_intake_topics> {};

}  // namespace penstock

namespace penstock::daemon {
namespace {

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;
constexpr std::int64_t kGiB = 1024 * kMiB;

using core::Limit;
using core::PolicyDraft;
using front::GuardRules;
using front::HttpLimits;
using front::HttpOptions;
using front::RespLimits;
using front::RespOptions;
using wire::FilterRules;

// Terms of retention may be a hundred years.
constexpr Millis kLongest = std::chrono::days{36'600};

constexpr std::array<std::string_view, 3> kSaslMechanisms{"PLAIN", "SCRAM-SHA-256",
                                                          "SCRAM-SHA-512"};

// The records of settings, each of a type of its own.
template <class Record>
void* record_in(Config& c) {
  return &std::get<Record&>(
      std::tie(c, c.http, c.http.limits, c.http.guard, c.resp, c.resp.limits, c.auth, c.log,
               c.embedded, c.postgres, c.mariadb, c.redis, c.slots, c.throttle,
               c.throttle.default_policy, c.throttle.default_policy.limit, c.throttle.filter,
               c.dispatch, c.payments, c.kafka, c.temporal, c.gateway, c.gateway.usage_export));
}

template <auto member>
using OwnerOf = typename described::MemberOf<decltype(member)>::Owner;

template <auto member>
consteval Key written(const Form& form, std::string_view path, std::string_view help) {
  return {.field = field<member>(path, help), .form = &form, .record = record_in<OwnerOf<member>>};
}

template <auto member>
consteval Key choice(std::string_view path, std::string_view help) {
  return written<member>(kChoice, path, help);
}
template <auto member>
consteval Key count(std::string_view path, std::int64_t min, std::int64_t max,
                    std::string_view help) {
  return written<member>(kCount, path, help).within(min, max);
}
template <auto member>
consteval Key bytes(std::string_view path, std::int64_t min, std::int64_t max,
                    std::string_view help) {
  return written<member>(kBytes, path, help).within(min, max);
}
template <auto member>
consteval Key duration(std::string_view path, Millis min, Millis max, std::string_view help) {
  return written<member>(kDuration, path, help).within(min.count(), max.count());
}
// Below 100 ms an honest client on a slow link is cut off; beyond an hour a time-out protects
// nothing.
template <auto member>
consteval Key timeout(std::string_view path, std::string_view help) {
  return duration<member>(path, Millis{100}, std::chrono::hours{1}, help);
}

template <auto address, auto port>
consteval Key listen(std::string_view path, std::string_view help) {
  using Owner = OwnerOf<address>;
  Key key{.form = &kListen, .record = record_in<Owner>};
  key.field.name = path;
  key.field.help = help;
  key.field.kind = FieldKind::text;
  key.field.get = [](const void* record) -> FieldValue {
    const auto& owner = *static_cast<const Owner*>(record);
    return wire::format_listen({owner.*address, owner.*port});
  };
  key.field.set = [](void* record, FieldValue value) -> Result<void> {
    auto& owner = *static_cast<Owner*>(record);
    const wire::ListenAddress at = PENSTOCK_TRY(wire::parse_listen(std::get<std::string>(value)));
    owner.*address = at.address;
    owner.*port = at.port;
    return {};
  };
  return key;
}

// A rate is kept as it was written, too.
consteval Key refill_rate(std::string_view path, std::string_view help) {
  Key key = written<&core::PolicyDraft::refill_text>(kDecimal, path, help);
  key.field.set = Description<core::PolicyDraft>::set_rate;
  return key;
}

// clang-format off: one entry reads like a row
constexpr std::array kKeys{
    listen<&HttpOptions::address, &HttpOptions::port>("http.listen",
        "Address and port to serve HTTP on; port 0 picks a free one. An address that other "
        "machines can reach needs both tokens, or `auth: none`.").with_flag("--http"),
    count<&HttpOptions::threads>("http.threads", 0, 1024,
        "Threads that serve HTTP; 0 is one per core."),
    bytes<&HttpLimits::header_bytes>("http.header-bytes-max", kKiB, kMiB,
        "Largest request line and headers together; more is 431."),
    bytes<&HttpLimits::body_bytes>("http.body-bytes-max", kKiB, kGiB,
        "Largest request body; more is 413."),
    bytes<&HttpLimits::batch_body_bytes>("http.batch-body-bytes-max", kKiB, kGiB,
        "Largest request body on batch routes; more is 413. At least `http.body-bytes-max`."),
    timeout<&HttpLimits::header_timeout>("http.header-timeout",
        "Time from the first byte of a request to the end of its headers; slower is 408."),
    timeout<&HttpLimits::idle_timeout>("http.idle-timeout",
        "A connection without a request for this long is closed."),
    timeout<&HttpLimits::body_grace>("http.body-grace",
        "Time a body may take before `http.body-bytes-per-second-min` is asked of it."),
    bytes<&HttpLimits::body_bytes_per_second>("http.body-bytes-per-second-min", 1, kGiB,
        "Slowest rate of a body after the grace; slower is 408."),
    count<&HttpLimits::connections>("http.connections-max", 1, 1'000'000,
        "Connections open at once; more are closed at once. Lowered at start if the limit of open "
        "files has no room for them beside the store."),
    timeout<&HttpLimits::shutdown_timeout>("http.shutdown-timeout",
        "Time that requests in flight have to finish when the daemon is told to stop."),
    written<&HttpOptions::tls_certificate_file>(kPath, "http.tls.certificate-file",
        "PEM certificate chain; with `http.tls.key-file`, HTTPS is served instead of HTTP.")
        .must_be_readable(),
    written<&HttpOptions::tls_key_file>(kPath, "http.tls.key-file",
        "PEM private key of the certificate.").must_be_readable(),
    written<&GuardRules::allowed_hosts>(kHosts, "http.allowed-hosts",
        "Further names of this daemon. On routes that no token guards a request must name one of "
        "these, a loopback name or an address of the daemon as its `Host`; else it is 421."),
    written<&GuardRules::allowed_origins>(kOrigins, "http.allowed-origins",
        "Other sites whose pages may change things here; a request that changes something and "
        "comes from a page of any other site is 403."),
    listen<&RespOptions::address, &RespOptions::port>("resp.listen",
        "Address and port to serve Redis clients on (`CL.THROTTLE`), usually `127.0.0.1:6380`; "
        "not set = off. An address that other machines can reach needs a password, or `auth: "
        "none`.").unset().with_flag("--resp"),
    written<&Config::resp_password_file>(kPath, "resp.password-file",
        "File with the password that Redis clients say (`AUTH`): one line of 1 to 512 bytes.")
        .holding(runtime::read_password_file, "resp.listen",
                 [](Config& c) -> std::string& { return c.resp.password; })
        .with_flag("--resp-password-file"),
    count<&RespOptions::threads>("resp.threads", 0, 1024,
        "Threads that serve Redis clients; 0 is one per core, at least two."),
    count<&RespLimits::connections>("resp.connections-max", 1, 1'000'000,
        "Connections of Redis clients open at once; more are told so and closed. Lowered as "
        "`http.connections-max`."),
    timeout<&RespLimits::idle_timeout>("resp.idle-timeout",
        "A connection without a request for this long is closed; not set = never.").unset(),
    written<&Config::data_dir>(kPath, "data-dir",
        "Folder of the embedded store; made when it does not exist.").with_flag("--data-dir"),
    bytes<&Config::memory_max>("memory.max", 32 * kMiB, 1024 * kGiB,
        "Memory for all work under way: requests, calls that wait for a store, answers not yet "
        "read, messages from Kafka, items on their way to sinks. Beyond it 503. At least four "
        "times the largest body. When not set: a quarter of the machine's or the control group's "
        "memory, at most 1GiB.").unset(),
    choice<&AuthConfig::word>("auth",
        "The word `none`: serve without tokens, even on an address that other machines can reach."),
    written<&AuthConfig::admin_token_file>(kPath, "auth.admin-token-file",
        "File with the token of `/admin/**` (16 to 512 printable characters); it opens the other "
        "routes too.")
        .holding(runtime::read_token_file, "",
                 [](Config& c) -> std::string& { return c.http.tokens.admin; })
        .with_flag("--admin-token-file"),
    written<&AuthConfig::api_token_file>(kPath, "auth.api-token-file",
        "File with the token of `/api/**` (16 to 512 printable characters).")
        .holding(runtime::read_token_file, "",
                 [](Config& c) -> std::string& { return c.http.tokens.api; })
        .with_flag("--api-token-file"),
    written<&AuthConfig::open_metrics>(kBoolean, "auth.open-metrics",
        "Serve health and metrics without a token on an address that other machines can reach, "
        "too."),
    choice<&LogConfig::level>("log.level",
        "Least level that is logged.").with_flag("--log-level"),
    choice<&LogConfig::format>("log.format",
        "How log lines look; `auto` is text on a terminal, else JSON."),
    choice<&EmbeddedStoreConfig::durability>("store.embedded.durability",
        "`synced`: an answer leaves once its batch is on disk. `relaxed`: before that; a crash of "
        "the machine may lose the last moments."),
    // Below 1 MiB the store rereads index blocks for every look-up.
    bytes<&EmbeddedStoreConfig::cache_bytes>("store.embedded.cache-bytes", kMiB, 1024 * kGiB,
        "Memory for blocks read from disk."),
    written<&PostgresConfig::url>(kConnection, "store.postgres.url",
        "PostgreSQL shared by all nodes: a libpq URI (`postgresql://user@host/database`) or "
        "keywords (`host=… dbname=…`), TLS modes as in libpq."),
    written<&PostgresConfig::password_file>(kPath, "store.postgres.password-file",
        "File with the password; without it the URL, `PGPASSWORD` or the pass file is asked.")
        .holding(runtime::read_password_file, "store.postgres.url",
                 [](Config& c) -> std::string& { return c.postgres.password; }),
    count<&PostgresConfig::connections>("store.postgres.connections", 1, 100,
        "Batches and reads in flight at once."),
    duration<&PostgresConfig::deadline>(
        "store.postgres.deadline", Millis{100}, std::chrono::minutes{1},
        "A call that PostgreSQL has not answered by then is 503."),
    written<&MariadbConfig::url>(kConnection, "store.mariadb.url",
        "MariaDB or MySQL shared by all nodes, for throttle usage and policies: "
        "`mysql://user@host:3306/database`, with `?sslmode=require` or `verify-full` for TLS."),
    written<&MariadbConfig::password_file>(kPath, "store.mariadb.password-file",
        "File with the password; without it the URL has it.")
        .holding(runtime::read_password_file, "store.mariadb.url",
                 [](Config& c) -> std::string& { return c.mariadb.password; }),
    count<&MariadbConfig::connections>("store.mariadb.connections", 1, 100,
        "Batches of decisions in flight at once."),
    written<&RedisConfig::url>(kConnection, "store.redis.url",
        "Redis shared by all nodes: `redis://host:port`, with TLS `rediss://`, also with "
        "`user:password@` and `/database`; of a cluster any node."),
    written<&RedisConfig::password_file>(kPath, "store.redis.password-file",
        "File with the password; without it the URL's is used.")
        .holding(runtime::read_password_file, "store.redis.url",
                 [](Config& c) -> std::string& { return c.redis.password; }),
    written<&RedisConfig::cluster>(kBoolean, "store.redis.cluster",
        "Redis Cluster: keys lie on several nodes, which are found by asking the one of the URL."),
    count<&RedisConfig::connections>("store.redis.connections", 1, 100,
        "Batches in flight at once, to each node of a cluster."),
    written<&RedisConfig::ca_file>(kPath, "store.redis.ca-file",
        "PEM certificates of who may vouch for a `rediss://` server; not set = the system's."),
    choice<&SlotsConfig::store>("slots.store",
        "Where slots are kept. When not set: PostgreSQL if `store.postgres.url` is set, else the "
        "embedded store.").first(2).unset(),
    written<&SlotsConfig::default_config_name>(kName, "slots.default-config-name",
        "Config of a request that names none."),
    duration<&SlotsConfig::max_delay>("slots.max-delay", Millis{0}, core::kMaxDelayMax,
        "How far after the requested time a slot is searched, when the request does not say "
        "(`maxDelay`); no room within it is 503."),
    count<&SlotsConfig::queue_max>("slots.queue-max", 1, 10'000'000,
        "Requests waiting for the store; more are refused with 503."),
    count<&SlotsConfig::batch_max>("slots.batch-max", 1, 100'000,
        "Requests that the store places in one atomic step. At most `slots.queue-max`."),
    // Below a minute an event that is asked for again may have lost its slot already.
    duration<&SlotsConfig::keep>("slots.retention.keep", Seconds{1}, kLongest,
        "Slots are taken out of the store this long after the end of their window; not set = "
        "never. An event that was taken out may be assigned anew."),
    written<&SlotsConfig::archive_dir>(kPath, "slots.retention.archive-dir",
        "Folder for what is taken out, an NDJSON file a run; not set = no copy is kept."),
    duration<&SlotsConfig::prune_interval>(
        "slots.retention.interval", Millis{100}, std::chrono::days{7},
        "Time between two runs."),
    choice<&ThrottleConfig::mode>("throttle.mode",
        "`service` is this daemon. `embedded` is the library in your own process "
        "(docs/library.md)."),
    choice<&ThrottleConfig::store>("throttle.store",
        "Where policies and usage are kept: `embedded` for this node alone, else shared by all "
        "nodes on that engine. When not set: PostgreSQL if `store.postgres.url` is set, else the "
        "embedded store.").unset(),
    // The predecessor's budget for a decision is a few milliseconds; beyond ten seconds clients
    // have gone.
    duration<&ThrottleConfig::deadline>("throttle.deadline", Millis{5}, Seconds{10},
        "A decision that the shared engine has not made by then is made as the policy's "
        "`onStoreFailure` says."),
    count<&ThrottleConfig::max_keys>("throttle.max-keys", 1'000, 1'000'000'000,
        "Keys with usage that are held in memory."),
    // Shorter, the disk is busy with nothing else; longer, a crash gives away too much.
    duration<&ThrottleConfig::save_interval>(
        "throttle.save-interval", Millis{100}, std::chrono::hours{1},
        "Time between two savings of the usage; a crash forgets at most what was used since the "
        "last."),
    choice<&Limit::type>("throttle.default-policy.type",
        "Algorithm for keys without a policy, and for a policy that names none."),
    count<&Limit::capacity>("throttle.default-policy.capacity", 1, core::kCapacityMax,
        "Its capacity: the burst of a bucket, the maximum of a window."),
    refill_rate("throttle.default-policy.refill-rate",
        "Its tokens per second, of the two buckets."),
    count<&Limit::window>(
        "throttle.default-policy.window-seconds", 1, core::kLimitWindowMax.count(),
        "Its window."),
    written<&FilterRules::trusted_proxies>(kBlocks, "throttle.filter.trusted-proxies",
        "Proxies whose word about a request is believed by the filter; nobody else's is, not even "
        "from this machine."),
    written<&FilterRules::rules>(kKeyRules, "throttle.filter.rules",
        "The limits of a request to the filter, all or none: one key each, made of its words."),
    written<&FilterRules::user_header>(kHeader, "throttle.filter.user-header",
        "Header in which a trusted proxy names the user."),
    count<&FilterRules::ipv6_prefix_bits>("throttle.filter.network-bits", 1, 128,
        "Leading bits of an IPv6 address that make one client; 128 is every address by itself."),
    written<&ThrottleConfig::tokens_remaining>(kBoolean, "throttle.metrics.tokens-remaining",
        "Show `throttlex_tokens_remaining` for the first 100 policies that decide anything."),
    choice<&DispatchConfig::store>("dispatch.store",
        "Where items wait, with their types and slots. When not set: PostgreSQL if "
        "`store.postgres.url` is set, else the embedded store.").first(2).unset(),
    bytes<&DispatchConfig::context_bytes_max>("dispatch.context-bytes-max", kKiB, 64 * kMiB,
        "Largest `context` of an item; more is 413. A request may have 64 KiB beside it."),
    // Below a minute a client that repeats its request may run the same work twice.
    duration<&DispatchConfig::id_retention>(
        "dispatch.id-retention", std::chrono::minutes{1}, kLongest,
        "An item is known this long after it was settled; then it is forgotten, with its audit, "
        "and its id may be used anew."),
    written<&DispatchConfig::refuse_private_addresses>(
        kBoolean, "dispatch.http.refuse-private-addresses",
        "HTTP sinks never connect to loopback, private, link-local and other addresses that are "
        "not public, whatever a name resolves to."),
    written<&DispatchConfig::ca_file>(kPath, "dispatch.http.ca-file",
        "PEM certificates of who may vouch for `https` sinks; not set = the system's."),
    // As for items: a payment that is forgotten could be made again.
    duration<&PaymentsConfig::retention>("payments.retention", std::chrono::days{1}, kLongest,
        "A payment is known this long after its item was settled, and so is the item; then both "
        "are forgotten, and the id may be used anew. Those that are HELD stay."),
    choice<&GatewayConfig::store>("gateway.store",
        "Where quotas and usage are kept: with the outbox, in the store of dispatch. When not "
        "set: that one.").first(2).unset(),
    choice<&GatewayConfig::bus>("gateway.bus",
        "How messages reach who sends them: `outbox` is the queue of dispatch, written in one "
        "step with the quota; `kafka` is a topic at `kafka.brokers`."),
    written<&GatewayConfig::kafka_topic>(kName, "gateway.kafka.topic",
        "Topic of messages; what cannot be read goes to this name with "
        "`kafka.intake.dead-letter-suffix`."),
    count<&GatewayConfig::kafka_partitions>("gateway.kafka.partitions", 1, 10'000,
        "Partitions of the topic when it is made; one that is there stays as it is."),
    written<&GatewayConfig::kafka_group>(kName, "gateway.kafka.group",
        "Consumer group of the senders."),
    // Below a second a broker that is only slow would be called down.
    duration<&GatewayConfig::kafka_publish_deadline>(
        "gateway.kafka.publish-deadline", Seconds{1}, Seconds{30},
        "A message that Kafka has not confirmed by then is answered with 503."),
    choice<&GatewayConfig::cache>("gateway.cache",
        "What stands before the store of quotas: `redis` is `store.redis`, before PostgreSQL and "
        "with `gateway.bus: kafka`."),
    choice<&GatewayConfig::cost>("gateway.cost",
        "What a message counts: `message` is 1, `segments` the parts it is sent in."),
    choice<&GatewayConfig::attempts>("gateway.attempts",
        "What is kept of attempts to send: counts by user and minute, also each attempt, or each "
        "with the text of its message."),
    // Below an hour the default range of a question would be empty.
    duration<&GatewayConfig::analytics_retention>(
        "gateway.analytics-retention", std::chrono::hours{1}, kLongest,
        "What users did is kept this long (`gateway.attempts`)."),
    written<&UsageExportConfig::opensearch_url>(kConnection, "gateway.export.opensearch-url",
        "Where usage is handed on to by the minute: `https://host:port`, an OpenSearch or what "
        "takes its bulk format. Not set = nowhere."),
    written<&UsageExportConfig::index>(kName, "gateway.export.index",
        "Index that it goes to."),
    written<&UsageExportConfig::username>(kName, "gateway.export.username",
        "Name to say (basic authentication)."),
    written<&UsageExportConfig::password_file>(kPath, "gateway.export.password-file",
        "File with the password.")
        .holding(runtime::read_password_file, "",
                 [](Config& c) -> std::string& { return c.gateway.usage_export.password; }),
    written<&UsageExportConfig::ca_file>(kPath, "gateway.export.ca-file",
        "PEM certificates of who may vouch for an `https` one; not set = the system's.")
        .must_be_readable(),
    // A minute is handed on some seconds after it has ended; looking more often gains nothing.
    duration<&UsageExportConfig::interval>(
        "gateway.export.interval", Seconds{1}, std::chrono::hours{1},
        "How often it looks for minutes that have ended."),
    written<&KafkaConfig::brokers>(kConnection, "kafka.brokers",
        "`host:port,host:port` of some brokers, for item types with the sink `kafka` and for "
        "intake."),
    written<&KafkaConfig::tls>(kBoolean, "kafka.tls.enabled",
        "Speak TLS, with the system's certificates to trust unless `kafka.tls.ca-file` names "
        "others."),
    written<&KafkaConfig::ca_file>(kPath, "kafka.tls.ca-file",
        "PEM certificates of who may vouch for the brokers; not set = the system's.")
        .must_be_readable(),
    written<&KafkaConfig::certificate_file>(kPath, "kafka.tls.certificate-file",
        "PEM certificate chain that Penstock shows; with `kafka.tls.key-file`.").must_be_readable(),
    written<&KafkaConfig::key_file>(kPath, "kafka.tls.key-file",
        "PEM private key of that certificate.").must_be_readable(),
    choice<&KafkaConfig::sasl_mechanism>("kafka.sasl.mechanism",
        "How Penstock says who it is; not set = it does not.").choices(kSaslMechanisms),
    written<&KafkaConfig::username>(kName, "kafka.sasl.username",
        "Name to say."),
    written<&KafkaConfig::password_file>(kPath, "kafka.sasl.password-file",
        "File with the password.")
        .holding(runtime::read_password_file, "",
                 [](Config& c) -> std::string& { return c.kafka.password; }),
    written<&KafkaConfig::intake_topics>(kTopics, "kafka.intake.topics",
        "Topics whose messages are taken in as items, each of its item type; not set = none."),
    written<&KafkaConfig::intake_group>(kName, "kafka.intake.group",
        "Consumer group of all nodes that share a store."),
    written<&KafkaConfig::dead_letter_suffix>(kName, "kafka.intake.dead-letter-suffix",
        "A message that can never be taken goes to the topic of its topic's name and this."),
    written<&TemporalConfig::address>(kConnection, "temporal.address",
        "`host:port` of Temporal's frontend, for item types with the sink `temporal`."),
    written<&TemporalConfig::namespace_name>(kName, "temporal.namespace",
        "Namespace in which workflows are started; it is not made."),
    written<&TemporalConfig::tls>(kBoolean, "temporal.tls.enabled",
        "Speak TLS, with the system's certificates to trust unless `temporal.tls.ca-file` names "
        "others."),
    written<&TemporalConfig::ca_file>(kPath, "temporal.tls.ca-file",
        "PEM certificates of who may vouch for the server; not set = the system's.")
        .must_be_readable(),
    written<&TemporalConfig::certificate_file>(kPath, "temporal.tls.certificate-file",
        "PEM certificate chain that Penstock shows; with `temporal.tls.key-file`.")
        .must_be_readable(),
    written<&TemporalConfig::key_file>(kPath, "temporal.tls.key-file",
        "PEM private key of that certificate.").must_be_readable(),
    written<&TemporalConfig::server_name>(kName, "temporal.tls.server-name",
        "Name that the server's certificate must have; not set = the host of the address."),
    written<&TemporalConfig::api_key_file>(kPath, "temporal.api-key-file",
        "File with the API key (1 to 512 printable characters), as Temporal Cloud gives them; "
        "needs TLS.")
        .holding(runtime::read_key_file, "",
                 [](Config& c) -> std::string& { return c.temporal.api_key; }),
};
// clang-format on

// A member without a row does not compile. `others` are no settings: secrets that come from files,
// records in the record, and what follows from other settings. ThrottleConfig is left out, since
// counting its members crashes GCC 12.
template <class Record>
consteval bool has_all_rows(std::size_t others = 0) {
  std::size_t rows = others;
  for (const Key& key : kKeys) {
    if (key.record == &record_in<Record>) ++rows;
  }
  return rows == boost::pfr::tuple_size_v<Record>;
}
static_assert(has_all_rows<AuthConfig>() && has_all_rows<LogConfig>());
static_assert(has_all_rows<EmbeddedStoreConfig>(1));  // tables_open
static_assert(has_all_rows<PostgresConfig>(1) && has_all_rows<MariadbConfig>(1) &&
              has_all_rows<RedisConfig>(1));  // password
static_assert(has_all_rows<SlotsConfig>() && has_all_rows<PaymentsConfig>());
static_assert(has_all_rows<DispatchConfig>() && has_all_rows<GatewayConfig>(1));    // usage_export
static_assert(has_all_rows<KafkaConfig>(1) && has_all_rows<UsageExportConfig>(1));  // password
static_assert(has_all_rows<TemporalConfig>(1));                                     // api_key

bool is_below(std::string_view path, std::string_view section) noexcept {
  return path.size() > section.size() && path.starts_with(section) && path[section.size()] == '.';
}

}  // namespace

FieldValue Key::default_value() const {
  static Config defaults;
  if (!has_default) return {};
  FieldValue value = field.get(record(defaults));
  return is_empty(value) ? FieldValue() : value;
}

std::span<const Key> keys() { return kKeys; }

const Key* find_key(std::string_view path) {
  const auto* const found = std::ranges::find(kKeys, path, &Key::path);
  return found == kKeys.end() ? nullptr : found;
}

const Key* find_key_by_environment_name(std::string_view name) {
  const auto* const found =
      std::ranges::find(kKeys, name, [](const Key& key) { return environment_name(key.path()); });
  return found == kKeys.end() ? nullptr : found;
}

const Key* first_key_below(std::string_view path) {
  const auto* const found =
      std::ranges::find_if(kKeys, [&](const Key& key) { return is_below(key.path(), path); });
  return found == kKeys.end() ? nullptr : found;
}

std::vector<std::string_view> known_paths() {
  std::vector<std::string_view> paths;
  const auto add = [&](std::string_view path) {
    if (std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
  };
  for (const Key& key : kKeys) {
    const std::string_view path = key.path();
    for (std::size_t dot = path.find('.'); dot != path.npos; dot = path.find('.', dot + 1)) {
      add(path.substr(0, dot));
    }
    add(path);
  }
  return paths;
}

std::string environment_name(std::string_view path) {
  std::string name = "PENSTOCK_";
  for (const char c : path) {
    if (c == '.' || c == '-') {
      name += '_';
    } else {
      name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
  }
  return name;
}

std::string reference_markdown() {
  std::string out =
      "| key | default | value | meaning |\n"
      "|---|---|---|---|\n";
  for (const Key& key : kKeys) {
    const std::string fallback = key.format(key.default_value());
    out += fmt::format("| `{}` | {} | {} | {}{} |\n", key.path(),
                       fallback.empty() ? "not set" : fmt::format("`{}`", fallback),
                       brief_words_for(key.field, *key.form), key.field.help,
                       key.flag.empty() ? "" : fmt::format(" Flag: `{}`.", key.flag));
  }
  return out;
}

}  // namespace penstock::daemon
