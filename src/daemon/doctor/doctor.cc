#include "daemon/doctor/doctor.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "daemon/doctor/folder_checks.h"
#include "daemon/doctor/kafka_checks.h"
#include "daemon/doctor/listen_checks.h"
#include "daemon/doctor/machine_checks.h"
#include "daemon/doctor/mariadb_checks.h"
#include "daemon/doctor/postgres_checks.h"
#include "daemon/doctor/redis_checks.h"
#include "daemon/doctor/sink_checks.h"
#include "daemon/doctor/temporal_checks.h"

namespace penstock::daemon::doctor {
namespace {

// For what ends a moment after its deadline, such as threads of libraries.
constexpr Millis kGrace = Seconds{2};

using Types = std::vector<store::ItemTypeRecord>;

// Threads that come too late may still look at these.
struct Case {
  Config config;
  Types types;
};

// What the store of dispatch holds; a finding when it cannot be read.
RunResult read_types(const std::shared_ptr<Case>& patient, Millis limit) {
  const auto types = std::make_shared<std::optional<Types>>();
  RunResult result = run_areas(
      {{"sink.types",
        [patient, types](const runtime::Deadline& deadline) -> Findings {
          Result<Types> read = read_item_types(patient->config, deadline);
          if (!read) {
            return {skipped("sink.types", "the item types cannot be read: " + read.error().what)};
          }
          *types = std::move(*read);
          return {};
        }}},
      limit, kGrace);
  // A thread that is left running may still write.
  if (!result.left_running && *types) patient->types = std::move(**types);
  return result;
}

void append(RunResult& all, RunResult&& more) {
  std::ranges::move(more.findings, std::back_inserter(all.findings));
  all.left_running = all.left_running || more.left_running;
}

std::vector<Area> areas_of(const std::shared_ptr<const Case>& patient) {
  const auto of_config = [&](const char* name,
                             Findings (*check)(const Config&, const runtime::Deadline&)) -> Area {
    return {name, [patient, check](const runtime::Deadline& deadline) {
              return check(patient->config, deadline);
            }};
  };
  const auto of_types = [&](const char* name,
                            Findings (*check)(const Config&, std::span<const store::ItemTypeRecord>,
                                              const runtime::Deadline&)) -> Area {
    return {name, [patient, check](const runtime::Deadline& deadline) {
              return check(patient->config, patient->types, deadline);
            }};
  };
  std::vector<Area> areas = {
      of_config("listen", check_listen),     of_config("folder", check_folder),
      of_config("postgres", check_postgres), of_config("mariadb", check_mariadb),
      of_config("redis", check_redis),       of_types("kafka", check_kafka),
      of_types("temporal", check_temporal)};
  std::ranges::move(sink_areas(patient->config, patient->types), std::back_inserter(areas));
  areas.push_back(of_config("limits", check_limits));
  return areas;
}

}  // namespace

RunResult examine(const std::string& file, const Loaded& loaded, Millis limit) {
  RunResult all{.findings = check_config(file, loaded)};
  std::vector<Area> areas;
  if (loaded) {
    const auto patient = std::make_shared<Case>(Case{.config = loaded->config, .types = {}});
    append(all, read_types(patient, limit));
    areas = areas_of(patient);
  } else {
    all.findings.push_back(
        skipped("config", "stores, sinks, addresses and limits wait for settings that hold"));
  }
  areas.push_back({"clock", check_clock});
  append(all, run_areas(std::move(areas), limit, kGrace));
  return all;
}

}  // namespace penstock::daemon::doctor
