#include "daemon/config/keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/limits/limit.h"
#include "core/policy/policy_rules.h"
#include "core/slots/slot_config.h"
#include "daemon/config/peer_keys.h"
#include "daemon/config/throttle_values.h"
#include "front/http/request_guard.h"

namespace penstock::daemon {
namespace {

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;
constexpr std::int64_t kGiB = 1024 * kMiB;

constexpr ValueType listen() { return {.kind = ValueKind::listen}; }
constexpr ValueType count(std::int64_t min, std::int64_t max) {
  return {.kind = ValueKind::count, .min = min, .max = max};
}
constexpr ValueType bytes(std::int64_t min, std::int64_t max) {
  return {.kind = ValueKind::bytes, .min = min, .max = max};
}
constexpr ValueType duration(Millis min, Millis max) {
  return {.kind = ValueKind::duration, .min = min.count(), .max = max.count()};
}
constexpr ValueType of(ValueKind kind) { return {.kind = kind}; }

// Below 100 ms an honest client on a slow link is cut off; beyond an hour a time-out protects
// nothing.
constexpr ValueType kTimeout = duration(Millis{100}, std::chrono::hours{1});

std::size_t size(const Value& v) { return static_cast<std::size_t>(std::get<std::int64_t>(v)); }
Millis millis(const Value& v) { return std::get<Millis>(v); }

LogLevel level_of(std::string_view name) {
  if (name == "debug") return LogLevel::debug;
  if (name == "warn") return LogLevel::warn;
  if (name == "error") return LogLevel::error;
  return name == "off" ? LogLevel::off : LogLevel::info;
}

StoreChoice store_of(std::string_view name) {
  if (name == "postgres") return StoreChoice::postgres;
  if (name == "mariadb") return StoreChoice::mariadb;
  return name == "redis" ? StoreChoice::redis : StoreChoice::embedded;
}

LogFormatChoice format_of(std::string_view name) {
  if (name == "text") return LogFormatChoice::text;
  return name == "json" ? LogFormatChoice::json : LogFormatChoice::automatic;
}

front::RespIo io_of(std::string_view name) {
  if (name == "epoll") return front::RespIo::epoll;
  return name == "io_uring" ? front::RespIo::io_uring : front::RespIo::automatic;
}

// clang-format off: one entry reads like a row
const std::array kOwnKeys{
    Key{"http.listen", listen(), "127.0.0.1:8080",
        "Address and port to serve HTTP on; port 0 picks a free one. An address that other machines "
        "can reach needs both tokens, or `auth: none`.", "--http",
        [](Config& c, const Value& v) {
          const auto& at = std::get<wire::ListenAddress>(v);
          c.http.address = at.address;
          c.http.port = at.port;
        }},
    Key{"http.threads", count(0, 1024), "0",
        "Threads that serve HTTP; 0 is one per core.", "",
        [](Config& c, const Value& v) { c.http.threads = size(v); }},
    Key{"http.header-bytes-max", bytes(kKiB, kMiB), "16KiB",
        "Largest request line and headers together; more is 431.", "",
        [](Config& c, const Value& v) { c.http.limits.header_bytes = size(v); }},
    Key{"http.body-bytes-max", bytes(kKiB, kGiB), "1MiB",
        "Largest request body; more is 413.", "",
        [](Config& c, const Value& v) { c.http.limits.body_bytes = size(v); }},
    Key{"http.batch-body-bytes-max", bytes(kKiB, kGiB), "16MiB",
        "Largest request body on batch routes; more is 413. At least `http.body-bytes-max`.", "",
        [](Config& c, const Value& v) { c.http.limits.batch_body_bytes = size(v); }},
    Key{"http.header-timeout", kTimeout, "PT10S",
        "Time from the first byte of a request to the end of its headers; slower is 408.", "",
        [](Config& c, const Value& v) { c.http.limits.header_timeout = millis(v); }},
    Key{"http.idle-timeout", kTimeout, "PT1M",
        "A connection without a request for this long is closed.", "",
        [](Config& c, const Value& v) { c.http.limits.idle_timeout = millis(v); }},
    Key{"http.body-grace", kTimeout, "PT10S",
        "Time a body may take before `http.body-bytes-per-second-min` is asked of it.", "",
        [](Config& c, const Value& v) { c.http.limits.body_grace = millis(v); }},
    Key{"http.body-bytes-per-second-min", bytes(1, kGiB), "1KiB",
        "Slowest rate of a body after the grace; slower is 408.", "",
        [](Config& c, const Value& v) { c.http.limits.body_bytes_per_second = size(v); }},
    Key{"http.connections-max", count(1, 1'000'000), "10000",
        "Connections open at once; more are closed at once. Lowered at start if the limit of open "
        "files has no room for them beside the store.", "",
        [](Config& c, const Value& v) { c.http.limits.connections = size(v); }},
    Key{"http.shutdown-timeout", kTimeout, "PT10S",
        "Time that requests in flight have to finish when the daemon is told to stop.", "",
        [](Config& c, const Value& v) { c.http.limits.shutdown_timeout = millis(v); }},
    Key{"http.tls.certificate-file", path(), "",
        "PEM certificate chain; with `http.tls.key-file`, HTTPS is served instead of HTTP.", "",
        [](Config& c, const Value& v) { c.http.tls_certificate_file = text(v); }},
    Key{"http.tls.key-file", path(), "",
        "PEM private key of the certificate.", "",
        [](Config& c, const Value& v) { c.http.tls_key_file = text(v); }},

    Key{"http.allowed-hosts", of(ValueKind::hosts), "",
        "Further names of this daemon. On routes that no token guards a request must name one of "
        "these, a loopback name or an address of the daemon as its `Host`; else it is 421.", "",
        [](Config& c, const Value& v) {
          c.http.guard.allowed_hosts = *parse_list(text(v), front::is_host);
        }},
    Key{"http.allowed-origins", of(ValueKind::origins), "",
        "Other sites whose pages may change things here; a request that changes something and comes "
        "from a page of any other site is 403.", "",
        [](Config& c, const Value& v) {
          c.http.guard.allowed_origins = *parse_list(text(v), front::is_origin);
        }},

    Key{"resp.listen", listen(), "",
        "Address and port to serve Redis clients on (`CL.THROTTLE`), usually `127.0.0.1:6380`; not "
        "set = off. An address that other machines can reach needs a password, or `auth: none`.",
        "--resp",
        [](Config& c, const Value& v) {
          const auto& at = std::get<wire::ListenAddress>(v);
          c.resp.address = at.address;
          c.resp.port = at.port;
        }},
    Key{"resp.password-file", path(), "",
        "File with the password that Redis clients say (`AUTH`): one line of 1 to 512 bytes.",
        "--resp-password-file",
        [](Config&, const Value&) {}},
    Key{"resp.threads", count(0, 1024), "0",
        "Threads that serve Redis clients; 0 is one per core, at least two.", "",
        [](Config& c, const Value& v) { c.resp.threads = size(v); }},
    Key{"resp.io", choice("auto|epoll|io_uring"), "auto",
        "How bytes of Redis clients move: `auto` is `io_uring` where the kernel gives it (Linux 6.0; "
        "containers often do not), else `epoll`. `io_uring` takes less CPU, and does not start "
        "without.", "",
        [](Config& c, const Value& v) { c.resp.io = io_of(text(v)); }},
    Key{"resp.connections-max", count(1, 1'000'000), "10000",
        "Connections of Redis clients open at once; more are told so and closed. Lowered as "
        "`http.connections-max`.", "",
        [](Config& c, const Value& v) { c.resp.limits.connections = size(v); }},
    Key{"resp.idle-timeout", kTimeout, "",
        "A connection without a request for this long is closed; not set = never.", "",
        [](Config& c, const Value& v) { c.resp.limits.idle_timeout = millis(v); }},

    Key{"data-dir", path(), "./penstock-data",
        "Folder of the embedded store; made when it does not exist.", "--data-dir",
        [](Config& c, const Value& v) { c.data_dir = text(v); }},

    Key{"memory.max", bytes(32 * kMiB, 1024 * kGiB), "",
        "Memory for all work under way: requests, calls that wait for a store, answers not yet read, "
        "messages from Kafka, items on their way to sinks. Beyond it 503. At least four times the "
        "largest body. When not set: a quarter of the machine's or the control group's memory, at most "
        "1GiB.", "",
        [](Config& c, const Value& v) { c.memory_max = size(v); }},

    Key{"auth", choice("none"), "",
        "The word `none`: serve without tokens, even on an address that other machines can reach.", "",
        [](Config& c, const Value&) { c.auth.none = true; }},
    Key{"auth.admin-token-file", path(), "",
        "File with the token of `/admin/**` (16 to 512 printable characters); it opens the other "
        "routes too.", "--admin-token-file",
        [](Config& c, const Value& v) { c.auth.admin_token_file = text(v); }},
    Key{"auth.api-token-file", path(), "",
        "File with the token of `/api/**` (16 to 512 printable characters).", "--api-token-file",
        [](Config& c, const Value& v) { c.auth.api_token_file = text(v); }},
    Key{"auth.open-metrics", boolean(), "false",
        "Serve health and metrics without a token on an address that other machines can reach, too.", "",
        [](Config& c, const Value& v) { c.auth.open_metrics = std::get<bool>(v); }},

    Key{"log.level", choice("debug|info|warn|error|off"), "info",
        "Least level that is logged.", "--log-level",
        [](Config& c, const Value& v) { c.log.level = level_of(text(v)); }},
    Key{"log.format", choice("auto|text|json"), "auto",
        "How log lines look; `auto` is text on a terminal, else JSON.", "",
        [](Config& c, const Value& v) { c.log.format = format_of(text(v)); }},

    Key{"store.embedded.durability", choice("synced|relaxed"), "synced",
        "`synced`: an answer leaves once its batch is on disk. `relaxed`: before that; a crash of the "
        "machine may lose the last moments.", "",
        [](Config& c, const Value& v) { c.embedded.relaxed_durability = text(v) == "relaxed"; }},
    // Below 1 MiB the store rereads index blocks for every look-up.
    Key{"store.embedded.cache-bytes", bytes(kMiB, 1024 * kGiB), "64MiB",
        "Memory for blocks read from disk.", "",
        [](Config& c, const Value& v) { c.embedded.cache_bytes = size(v); }},

    Key{"store.postgres.url", connection(), "",
        "PostgreSQL shared by all nodes: a libpq URI (`postgresql://user@host/database`) or keywords "
        "(`host=… dbname=…`), TLS modes as in libpq.", "",
        [](Config& c, const Value& v) { c.postgres.url = text(v); }},
    Key{"store.postgres.password-file", path(), "",
        "File with the password; without it the URL, `PGPASSWORD` or the pass file is asked.", "",
        [](Config&, const Value&) {}},
    // Batches of one pool take turns, so a few keep the server busy; one more listens for changes.
    Key{"store.postgres.connections", count(1, 100), "4",
        "Batches and reads in flight at once.", "",
        [](Config& c, const Value& v) { c.postgres.connections = size(v); }},
    Key{"store.postgres.deadline", duration(Millis{100}, std::chrono::minutes{1}), "PT2S",
        "A call that PostgreSQL has not answered by then is 503.", "",
        [](Config& c, const Value& v) { c.postgres.deadline = millis(v); }},

    Key{"store.mariadb.url", connection(), "",
        "MariaDB or MySQL shared by all nodes, for throttle usage and policies: "
        "`mysql://user@host:3306/database`, with `?sslmode=require` or `verify-full` for TLS.", "",
        [](Config& c, const Value& v) { c.mariadb.url = text(v); }},
    Key{"store.mariadb.password-file", path(), "",
        "File with the password; without it the URL has it.", "",
        [](Config&, const Value&) {}},
    Key{"store.mariadb.connections", count(1, 100), "4",
        "Batches of decisions in flight at once.", "",
        [](Config& c, const Value& v) { c.mariadb.connections = size(v); }},

    Key{"store.redis.url", connection(), "",
        "Redis shared by all nodes: `redis://host:port`, with TLS `rediss://`, also with "
        "`user:password@` and `/database`; of a cluster any node.", "",
        [](Config& c, const Value& v) { c.redis.url = text(v); }},
    Key{"store.redis.password-file", path(), "",
        "File with the password; without it the URL's is used.", "",
        [](Config&, const Value&) {}},
    Key{"store.redis.cluster", boolean(), "false",
        "Redis Cluster: keys lie on several nodes, which are found by asking the one of the URL.", "",
        [](Config& c, const Value& v) { c.redis.cluster = std::get<bool>(v); }},
    // Redis runs one script at a time: more batches on their way would only be smaller ones.
    Key{"store.redis.connections", count(1, 100), "1",
        "Batches in flight at once, to each node of a cluster.", "",
        [](Config& c, const Value& v) { c.redis.connections = size(v); }},
    Key{"store.redis.ca-file", path(), "",
        "PEM certificates of who may vouch for a `rediss://` server; not set = the system's.", "",
        [](Config& c, const Value& v) { c.redis.ca_file = text(v); }},

    Key{"slots.store", choice("embedded|postgres"), "",
        "Where slots are kept. When not set: PostgreSQL if `store.postgres.url` is set, else the "
        "embedded store.", "",
        [](Config& c, const Value& v) { c.slots.store = store_of(text(v)); }},
    Key{"slots.default-config-name", id(), "default",
        "Config of a request that names none.", "",
        [](Config& c, const Value& v) { c.slots.default_config_name = ConfigName::trusted(text(v)); }},
    Key{"slots.max-delay", duration(Millis{0}, core::kMaxDelayMax), "P1D",
        "How far after the requested time a slot is searched, when the request does not say "
        "(`maxDelay`); no room within it is 503.", "",
        [](Config& c, const Value& v) { c.slots.max_delay = millis(v); }},
    // About 15 MB, and about a second of work.
    Key{"slots.queue-max", count(1, 10'000'000), "65536",
        "Requests waiting for the store; more are refused with 503.", "",
        [](Config& c, const Value& v) { c.slots.queue_max = size(v); }},
    // Large enough that one sync is shared by many, small enough that a batch stays under 100 ms.
    Key{"slots.batch-max", count(1, 100'000), "4096",
        "Requests that the store places in one atomic step. At most `slots.queue-max`.", "",
        [](Config& c, const Value& v) { c.slots.batch_max = size(v); }},
    // Below a minute an event that is asked for again may have lost its slot already.
    Key{"slots.retention.keep", duration(Seconds{1}, std::chrono::days{36'600}), "",
        "Slots are taken out of the store this long after the end of their window; not set = never. An "
        "event that was taken out may be assigned anew.", "",
        [](Config& c, const Value& v) { c.slots.keep = millis(v); }},
    Key{"slots.retention.archive-dir", path(), "",
        "Folder for what is taken out, an NDJSON file a run; not set = no copy is kept.", "",
        [](Config& c, const Value& v) { c.slots.archive_dir = text(v); }},
    Key{"slots.retention.interval", duration(Millis{100}, std::chrono::days{7}), "PT1H",
        "Time between two runs.", "",
        [](Config& c, const Value& v) { c.slots.prune_interval = millis(v); }},

    Key{"throttle.mode", choice("service|embedded"), "service",
        "`service` is this daemon. `embedded` is the library in your own process (docs/library.md).", "",
        [](Config&, const Value&) {}},
    Key{"throttle.store", choice("embedded|postgres|mariadb|redis"), "",
        "Where policies and usage are kept: `embedded` for this node alone, else shared by all nodes "
        "on that engine. When not set: PostgreSQL if `store.postgres.url` is set, else the embedded "
        "store.", "",
        [](Config& c, const Value& v) { c.throttle.store = store_of(text(v)); }},
    // The predecessor's budget for a decision is a few milliseconds; beyond ten seconds clients have gone.
    Key{"throttle.deadline", duration(Millis{5}, Seconds{10}), "PT0.05S",
        "A decision that the shared engine has not made by then is made as the policy's "
        "`onStoreFailure` says.", "",
        [](Config& c, const Value& v) { c.throttle.deadline = millis(v); }},
    Key{"throttle.max-keys", count(1'000, 1'000'000'000), "2000000",
        "Keys with usage that are held in memory.", "",
        [](Config& c, const Value& v) { c.throttle.max_keys = size(v); }},
    // Shorter, the disk is busy with nothing else; longer, a crash gives away too much.
    Key{"throttle.save-interval", duration(Millis{100}, std::chrono::hours{1}), "PT1S",
        "Time between two savings of the usage; a crash forgets at most what was used since the last.", "",
        [](Config& c, const Value& v) { c.throttle.save_interval = millis(v); }},
    Key{"throttle.default-policy.type",
        choice("TOKEN_BUCKET|GCRA|SLIDING_WINDOW|SLIDING_WINDOW_COUNTER|FIXED_WINDOW"), "TOKEN_BUCKET",
        "Algorithm for keys without a policy, and for a policy that names none.", "",
        [](Config& c, const Value& v) {
          c.throttle.default_policy.limit.type = *core::limit_type_of(text(v));
        }},
    Key{"throttle.default-policy.capacity", count(1, core::kCapacityMax), "100",
        "Its capacity: the burst of a bucket, the maximum of a window.", "",
        [](Config& c, const Value& v) {
          c.throttle.default_policy.limit.capacity = std::get<std::int64_t>(v);
        }},
    Key{"throttle.default-policy.refill-rate", of(ValueKind::decimal), "10",
        "Its tokens per second, of the two buckets.", "",
        [](Config& c, const Value& v) {
          c.throttle.default_policy.limit.refill = *core::parse_rate(text(v));
          c.throttle.default_policy.refill_text = text(v);
        }},
    Key{"throttle.default-policy.window-seconds", count(1, core::kLimitWindowMax.count()), "60",
        "Its window.", "",
        [](Config& c, const Value& v) {
          c.throttle.default_policy.limit.window = Seconds{std::get<std::int64_t>(v)};
        }},
    Key{"throttle.filter.trusted-proxies", of(ValueKind::blocks), "",
        "Proxies whose word about a request is believed by the filter; nobody else's is, not even "
        "from this machine.", "",
        [](Config& c, const Value& v) {
          c.throttle.filter.trusted_proxies = *parse_address_blocks(text(v));
        }},
    Key{"throttle.filter.rules", of(ValueKind::rules), "ip,api-key",
        "The limits of a request to the filter, all or none: one key each, made of its words.", "",
        [](Config& c, const Value& v) { c.throttle.filter.rules = *parse_key_rules(text(v)); }},
    Key{"throttle.filter.user-header", of(ValueKind::header), "X-User-Id",
        "Header in which a trusted proxy names the user.", "",
        [](Config& c, const Value& v) { c.throttle.filter.user_header = text(v); }},
    Key{"throttle.filter.network-bits", count(1, 128), "64",
        "Leading bits of an IPv6 address that make one client; 128 is every address by itself.", "",
        [](Config& c, const Value& v) { c.throttle.filter.ipv6_prefix_bits = size(v); }},
    Key{"throttle.metrics.tokens-remaining", boolean(), "false",
        "Show `throttlex_tokens_remaining` for the first 100 policies that decide anything.", "",
        [](Config& c, const Value& v) { c.throttle.tokens_remaining = std::get<bool>(v); }},

    Key{"dispatch.store", choice("embedded|postgres"), "",
        "Where items wait, with their types and slots. When not set: PostgreSQL if "
        "`store.postgres.url` is set, else the embedded store.", "",
        [](Config& c, const Value& v) { c.dispatch.store = store_of(text(v)); }},
    Key{"dispatch.context-bytes-max", bytes(kKiB, 64 * kMiB), "1MiB",
        "Largest `context` of an item; more is 413. A request may have 64 KiB beside it.", "",
        [](Config& c, const Value& v) {
          c.dispatch.context_bytes_max = size(v);
          c.http.limits.item_body_bytes = size(v) + 64 * kKiB;
        }},
    // Below a minute a client that repeats its request may run the same work twice.
    Key{"dispatch.id-retention", duration(std::chrono::minutes{1}, std::chrono::days{36'600}), "P90D",
        "An item is known this long after it was settled; then it is forgotten, with its audit, and "
        "its id may be used anew.", "",
        [](Config& c, const Value& v) { c.dispatch.id_retention = millis(v); }},
    Key{"dispatch.http.refuse-private-addresses", boolean(), "false",
        "HTTP sinks never connect to loopback, private, link-local and other addresses that are not "
        "public, whatever a name resolves to.", "",
        [](Config& c, const Value& v) { c.dispatch.refuse_private_addresses = std::get<bool>(v); }},
    Key{"dispatch.http.ca-file", path(), "",
        "PEM certificates of who may vouch for `https` sinks; not set = the system's.", "",
        [](Config& c, const Value& v) { c.dispatch.ca_file = text(v); }},

    // As for items: a payment that is forgotten could be made again.
    Key{"payments.retention", duration(std::chrono::days{1}, std::chrono::days{36'600}), "P730D",
        "A payment is known this long after its item was settled, and so is the item; then both are "
        "forgotten, and the id may be used anew. Those that are HELD stay.", "",
        [](Config& c, const Value& v) { c.payments.retention = millis(v); }},

    Key{"gateway.store", choice("embedded|postgres"), "",
        "Where quotas and usage are kept: with the outbox, in the store of dispatch. When not set: that "
        "one.", "",
        [](Config& c, const Value& v) { c.gateway.store = store_of(text(v)); }},
    Key{"gateway.bus", choice("outbox|kafka"), "outbox",
        "How messages reach who sends them: `outbox` is the queue of dispatch, written in one step with "
        "the quota; `kafka` is a topic at `kafka.brokers`.", "",
        [](Config& c, const Value& v) {
          c.gateway.bus = text(v) == "kafka" ? BusChoice::kafka : BusChoice::outbox;
        }},
    Key{"gateway.kafka.topic", id(), "sms-outbound",
        "Topic of messages; what cannot be read goes to this name with `kafka.intake.dead-letter-suffix`.", "",
        [](Config& c, const Value& v) { c.gateway.kafka_topic = text(v); }},
    Key{"gateway.kafka.partitions", count(1, 10'000), "4",
        "Partitions of the topic when it is made; one that is there stays as it is.", "",
        [](Config& c, const Value& v) {
          c.gateway.kafka_partitions = static_cast<int>(std::get<std::int64_t>(v));
        }},
    Key{"gateway.kafka.group", id(), "penstock-sender",
        "Consumer group of the senders.", "",
        [](Config& c, const Value& v) { c.gateway.kafka_group = text(v); }},
    // Below a second a broker that is only slow would be called down.
    Key{"gateway.kafka.publish-deadline", duration(Seconds{1}, Seconds{30}), "PT5S",
        "A message that Kafka has not confirmed by then is answered with 503.", "",
        [](Config& c, const Value& v) { c.gateway.kafka_publish_deadline = millis(v); }},
    Key{"gateway.cache", choice("none|redis"), "none",
        "What stands before the store of quotas: `redis` is `store.redis`, before PostgreSQL and with "
        "`gateway.bus: kafka`.", "",
        [](Config& c, const Value& v) {
          c.gateway.cache = text(v) == "redis" ? CacheChoice::redis : CacheChoice::none;
        }},
    Key{"gateway.cost", choice("message|segments"), "message",
        "What a message counts: `message` is 1, `segments` the parts it is sent in.", "",
        [](Config& c, const Value& v) {
          c.gateway.cost = text(v) == "segments" ? core::MessageCost::segments
                                                 : core::MessageCost::message;
        }},
    Key{"gateway.attempts", choice("counts|events|texts"), "counts",
        "What is kept of attempts to send: counts by user and minute, also each attempt, or each "
        "with the text of its message.",
        "",
        [](Config& c, const Value& v) {
          c.gateway.attempts = text(v) == "texts"    ? core::AttemptDetail::texts
                               : text(v) == "events" ? core::AttemptDetail::events
                                                     : core::AttemptDetail::counts;
        }},
    // Below an hour the default range of a question would be empty.
    Key{"gateway.analytics-retention", duration(std::chrono::hours{1}, std::chrono::days{36'600}),
        "P30D", "What users did is kept this long (`gateway.attempts`).", "",
        [](Config& c, const Value& v) { c.gateway.analytics_retention = millis(v); }},
    Key{"gateway.export.opensearch-url", connection(), "",
        "Where usage is handed on to by the minute: `https://host:port`, an OpenSearch or what takes its "
        "bulk format. Not set = nowhere.", "",
        [](Config& c, const Value& v) { c.gateway.usage_export.opensearch_url = text(v); }},
    Key{"gateway.export.index", id(), "penstock-usage",
        "Index that it goes to.", "",
        [](Config& c, const Value& v) { c.gateway.usage_export.index = text(v); }},
    Key{"gateway.export.username", id(), "",
        "Name to say (basic authentication).", "",
        [](Config& c, const Value& v) { c.gateway.usage_export.username = text(v); }},
    Key{"gateway.export.password-file", path(), "",
        "File with the password.", "",
        [](Config&, const Value&) {}},
    Key{"gateway.export.ca-file", path(), "",
        "PEM certificates of who may vouch for an `https` one; not set = the system's.", "",
        [](Config& c, const Value& v) { c.gateway.usage_export.ca_file = text(v); }},
    // A minute is handed on some seconds after it has ended; looking more often gains nothing.
    Key{"gateway.export.interval", duration(Seconds{1}, std::chrono::hours{1}), "PT10S",
        "How often it looks for minutes that have ended.", "",
        [](Config& c, const Value& v) { c.gateway.usage_export.interval = millis(v); }},
};
// clang-format on

}  // namespace

std::span<const Key> keys() {
  static const std::vector<Key> all = [] {
    std::vector<Key> joined(kOwnKeys.begin(), kOwnKeys.end());
    const std::span<const Key> peers = peer_keys();
    joined.insert(joined.end(), peers.begin(), peers.end());
    return joined;
  }();
  return all;
}

const Key* find_key(std::string_view path) {
  const auto found = std::ranges::find(keys(), path, &Key::path);
  return found == keys().end() ? nullptr : &*found;
}

const Key* find_key_by_environment_name(std::string_view name) {
  const auto found = std::ranges::find_if(
      keys(), [&](const Key& key) { return environment_name(key.path) == name; });
  return found == keys().end() ? nullptr : &*found;
}

bool is_section(std::string_view path) {
  return std::ranges::any_of(keys(), [&](const Key& key) {
    return key.path.size() > path.size() && key.path.starts_with(path) &&
           key.path[path.size()] == '.';
  });
}

std::vector<std::string_view> known_paths() {
  std::vector<std::string_view> paths;
  for (const Key& key : keys()) {
    for (std::size_t dot = key.path.find('.'); dot != key.path.npos;
         dot = key.path.find('.', dot + 1)) {
      const std::string_view section = key.path.substr(0, dot);
      if (std::ranges::find(paths, section) == paths.end()) paths.push_back(section);
    }
    if (std::ranges::find(paths, key.path) == paths.end()) paths.push_back(key.path);
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
  for (const Key& key : keys()) {
    const std::string fallback =
        key.fallback.empty() ? "not set" : fmt::format("`{}`", key.fallback);
    const std::string flag = key.flag.empty() ? "" : fmt::format(" Flag: `{}`.", key.flag);
    out += fmt::format("| `{}` | {} | {} | {}{} |\n", key.path, fallback,
                       describe_briefly(key.type), key.help, flag);
  }
  return out;
}

}  // namespace penstock::daemon
