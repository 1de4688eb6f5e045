// What doctor looks at, a subject after the other: check_… looks and judge_… says what to think of
// it. Judgements are pure.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "daemon/compose/open_files.h"
#include "daemon/doctor/doctor.h"
#include "engine/http/http_client.h"
#include "engine/kafka/inspect.h"
#include "engine/mariadb/inspect.h"
#include "engine/postgres/inspect.h"
#include "engine/rocksdb/folder.h"
#include "engine/rocksdb/verify.h"
#include "store/embedded/inspect.h"
#include "store/queue/ports.h"
#include "store/redis/inspect.h"

namespace penstock::daemon::doctor {

inline constexpr std::uint64_t kMiB = 1024 * 1024;

// The settings, and the files that they name (machine_checks.cc).

// `file` as it was given; empty = none was.
Findings judge_settings(const std::string& file, const Loaded& loaded);

// A file that holds a secret, by its mode. `told` = the settings warn by themselves when everybody
// may read it.
Findings judge_secret_mode(std::string_view key, const std::string& file, mode_t mode, bool told);

// Both, and the modes of all such files.
Findings check_config(const std::string& file, const Loaded& loaded);

// The machine: its clock, and what it lets a process have (machine_checks.cc).

struct ClockView {
  Instant wall{};
  // By adjtimex(): whether the kernel takes the clock for synchronised, and by how much it may be
  // off. None: it may not be asked.
  std::optional<bool> synchronised;
  Micros error_max{0};
  bool went_back = false;  // the steady clock did, in many reads
  std::string source;      // the kernel's clock source
};
Findings judge_clock(const ClockView& view);

struct LimitsView {
  std::uint64_t files = 0;         // hard limit of open files, which the daemon raises itself to
  std::uint64_t memory_bytes = 0;  // of the machine, or of the control group if that is less
  std::uint64_t backlog = 0;       // net.core.somaxconn; 0 = not known
  bool random = true;              // the kernel's generator is ready
};
// What the settings may come to.
struct Needs {
  FileNeeds files;
  std::uint64_t memory_bytes = 0;
};
Needs needs_of(const Config& config) noexcept;
Findings judge_limits(const LimitsView& view, const Needs& needs);
Findings check_clock(const runtime::Deadline& deadline);
Findings check_limits(const Config& config, const runtime::Deadline& deadline);

// The data folder of the embedded store (place_checks.cc).

struct DiskView {
  std::string place;             // the folder, or the nearest one above it that there is
  int problem = 0;               // what the system says to writing there; 0 = it may be written
  std::uint64_t free_bytes = 0;  // for those who are not root
};
Finding judge_disk(const std::string& folder, const DiskView& disk);

// `who` runs this, by name or number.
Finding judge_access(const std::string& folder, bool exists, const DiskView& disk,
                     const std::string& who);

// `open`: how it is open to others than its user.
Finding judge_mode(const std::string& folder,
                   const std::optional<store::embedded::OpenFolder>& open, bool empty);

// Whether a daemon may have the folder. `http_free`: whoever has it is not one with these settings.
Finding judge_lock(std::optional<long> holder, bool http_free);
Findings judge_folder(const std::string& folder, const Result<store::embedded::FolderView>& view,
                      std::uint32_t known_schema, bool http_free);

// What was read of its tables, logs and seal.
Finding judge_data(const std::string& folder, const Result<store::embedded::Verdict>& verdict);
Findings check_folder(const Config& config, const runtime::Deadline& deadline);

// The addresses that the daemon would listen on: free, or its own already (place_checks.cc).

enum class Occupant : std::uint8_t { nobody, penstock, unknown };

// What /health/ready answered on an address that is taken.
struct HealthAnswer {
  Occupant occupant = Occupant::unknown;
  Finding finding;
};
// `tls`: an answer that did not come may be a certificate that we cannot judge from here.
HealthAnswer judge_health(const std::string& address, bool tls,
                          const Result<http::HttpAnswer>& answer);

// `problem` is what bind() says, 0 = it is free.
Finding judge_bind(std::string name, const std::string& address, std::uint16_t port, int problem);

// `other` is who has the address of HTTP: a taken RESP address is then the same daemon's.
Finding judge_resp(const std::string& address, std::uint16_t port, int problem, Occupant other);

// Whether nobody listens on the address of HTTP now; one that any port will do for is free.
bool is_http_free(const Config& config);
Findings check_listen(const Config& config, const runtime::Deadline& deadline);

// Servers: whether they are there, fit and ours (server_checks.cc).

// `asked` is our time half way between question and answer, `round_trip` what both took: a skew
// within half of it is none.
Finding judge_skew(std::string name, Instant server, Instant asked, Micros round_trip);

// Who keeps what there, and how many connections a node opens for it.
struct PostgresUse {
  bool slots = false;
  bool throttle = false;
  bool dispatch = false;  // and with it payments and the gateway
  std::size_t connections = 0;
};
PostgresUse postgres_use(const Config& config) noexcept;
Findings judge_postgres(const store::postgres::ServerView& view, const PostgresUse& use,
                        std::int32_t known_schema);
Findings check_postgres(const Config& config, const runtime::Deadline& deadline);

// `connections` that a node opens at most.
Findings judge_mariadb(const store::mariadb::ServerView& view, std::int64_t connections,
                       std::int32_t known_schema);
Findings check_mariadb(const Config& config, const runtime::Deadline& deadline);

// What throttle keeps there outlives nothing else; the gateway's cache may be lost.
struct RedisUse {
  bool cluster = false;   // as configured
  bool throttle = false;  // usage and policies are there
};
Findings judge_redis(const store::redis::RedisView& view, const RedisUse& use);
Findings check_redis(const Config& config, const runtime::Deadline& deadline);

// Whether a host can be reached, and what certificate it shows (reach.cc). Sends nothing of a
// protocol above TLS. Blocking.

struct ReachOptions {
  std::string host;
  std::uint16_t port = 0;
  bool tls = false;
  std::string ca_file;          // that may vouch; empty = the system's
  bool refuse_private = false;  // as the sinks are told
};

struct Reached {
  std::string address;                   // that answered
  std::optional<Instant> valid_until{};  // of the certificate, with TLS
};

// The error says how far it came: the name, the connection or the certificate.
Result<Reached> reach(const ReachOptions& options, const runtime::Deadline& deadline);

// When the certificate in a PEM file ends. `invalid` when there is none.
Result<Instant> certificate_end(const std::string& file);

// Kafka, Temporal and where item types send their items: whether they can be reached. Nothing is
// sent there (sink_checks.cc).

struct TopicUse {
  enum class Kind : std::uint8_t {
    bus,          // the gateway's; daemons make it
    intake,       // read by this daemon
    dead_letter,  // written when a message cannot be taken
    sink,         // written by dispatch
  };
  Kind kind = Kind::bus;
  std::string topic;
  std::string who;         // the setting or the item type that names it
  int partitions_min = 1;  // of the bus
};

// In the order in which they are told; each topic once for each of its kinds.
std::vector<TopicUse> topics_used(const Config& config,
                                  std::span<const store::ItemTypeRecord> types);
Findings judge_kafka(const kafka::ClusterView& view, std::span<const TopicUse> uses);
Findings check_kafka(const Config& config, std::span<const store::ItemTypeRecord> types,
                     const runtime::Deadline& deadline);
Findings check_temporal(const Config& config, std::span<const store::ItemTypeRecord> types,
                        const runtime::Deadline& deadline);

// The types that the store of dispatch holds. Blocking.
Result<std::vector<store::ItemTypeRecord>> read_item_types(const Config& config,
                                                           const runtime::Deadline& deadline);

// One place to look at, with the item types that need it.
struct Target {
  std::string name;  // "sink.http.PAYMENT"
  std::string who;   // "item types PAYMENT, REFUND"
  ReachOptions where;
  std::string problem = {};  // why it cannot even be tried; empty = it can
};

// HTTP and SMPP sinks of types that are enabled, each address once, and the export of usage.
std::vector<Target> targets_of(const Config& config, std::span<const store::ItemTypeRecord> types);
Finding judge_target(const Target& target, const Result<Reached>& reached, Instant now);

// An area for each target: a slow one holds up no other.
std::vector<Area> sink_areas(const Config& config, std::span<const store::ItemTypeRecord> types);

// Days until a certificate ends, as a finding of its own.
Finding judge_certificate(std::string name, std::string found, Instant valid_until, Instant now);

}  // namespace penstock::daemon::doctor
