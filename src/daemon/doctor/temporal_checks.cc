#include "daemon/doctor/temporal_checks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/log.h"
#include "daemon/compose_dispatch.h"
#include "runtime/metrics.h"
#include "runtime/steady_wall_clock.h"
#include "sink/temporal/temporal_client.h"

namespace penstock::daemon::doctor {
namespace {

constexpr const char* kName = "temporal.namespace";

}  // namespace

Findings check_temporal(const Config& config, std::span<const store::ItemTypeRecord> types,
                        const runtime::Deadline& deadline) {
  const TemporalConfig& temporal = config.temporal;
  if (temporal.address.empty()) {
    const auto user = std::ranges::find_if(types, [](const store::ItemTypeRecord& record) {
      return record.settings.sink.type == core::SinkType::temporal;
    });
    if (user == types.end()) return {skipped("temporal", "temporal.address is not set")};
    return {failed(kName,
                   fmt::format("item type {} goes to Temporal, and temporal.address is not "
                               "set",
                               user->type.str()),
                   "set temporal.address: host:port")};
  }
  Result<sink::TemporalOptions> options = temporal_options(temporal);
  if (!options) return {failed(kName, options.error().what, "make the file readable")};
  const runtime::SteadyWallClock clock;
  Log log(clock, STDERR_FILENO, LogLevel::off, LogFormat::text);
  runtime::Metrics metrics;
  sink::TemporalClient client(clock, log, metrics, std::move(*options));
  client.wait_for_probe(deadline.remaining());
  if (const Result<void> served = client.health(); !served) {
    return {failed(kName, served.error().what,
                   fmt::format("start Temporal, correct temporal.address, or make the namespace: "
                               "temporal operator namespace create {}",
                               temporal.namespace_name))};
  }
  return {ok(kName,
             fmt::format("{} serves the namespace {}", temporal.address, temporal.namespace_name))};
}

}  // namespace penstock::daemon::doctor
