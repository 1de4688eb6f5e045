#include "daemon/doctor/sink_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "daemon/stores.h"
#include "engine/http/url.h"
#include "runtime/system_clock.h"
#include "store/embedded/inspect.h"
#include "store/queue/postgres/item_types.h"
#include "wire/http_url.h"

namespace penstock::daemon::doctor {
namespace {

using std::chrono::days;

// People renew by hand within two weeks; programs do a month ahead.
constexpr days kRenewWithin{14};

Target http_target(const Config& config, const std::string& type, const std::string& url) {
  Target target{.name = "sink.http." + type, .who = type, .where = {}};
  const Result<wire::HttpUrl> parsed = wire::parse_http_url(url);
  if (!parsed) {
    target.problem = fmt::format("its URL {}", parsed.error().what);
    return target;
  }
  target.where = {.host = parsed->host,
                  .port = parsed->port,
                  .tls = parsed->tls,
                  .ca_file = config.dispatch.ca_file.string(),
                  .refuse_private = config.dispatch.refuse_private_addresses};
  return target;
}

Target smpp_target(const Config& config, const std::string& type, const core::SmppSettings& smpp) {
  return {.name = "sink.smpp." + type,
          .who = type,
          .where = {.host = smpp.host,
                    .port = static_cast<std::uint16_t>(smpp.port),
                    .refuse_private = config.dispatch.refuse_private_addresses}};
}

bool same_place(const Target& a, const Target& b) {
  return a.problem.empty() && b.problem.empty() &&
         std::tie(a.where.host, a.where.port, a.where.tls) ==
             std::tie(b.where.host, b.where.port, b.where.tls);
}

void add(std::vector<Target>& targets, Target target) {
  const auto known =
      std::ranges::find_if(targets, [&](const Target& other) { return same_place(other, target); });
  if (known == targets.end()) {
    targets.push_back(std::move(target));
  } else {
    known->who += ", " + target.who;
  }
}

}  // namespace

Result<std::vector<store::ItemTypeRecord>> read_item_types(const Config& config,
                                                           const runtime::Deadline& deadline) {
  if (config.dispatch.store == StoreChoice::postgres) {
    store::postgres::Pool pool(store::postgres::connect_options(postgres_options(config)),
                               {.connections_max = 1, .connect_limit = deadline.remaining()},
                               nullptr);
    return store::postgres::ItemTypes(pool, deadline.remaining()).list();
  }
  Result<store::embedded::FolderView> folder = store::embedded::inspect_folder(config.data_dir);
  if (!folder) return std::unexpected(std::move(folder.error()));
  return std::move(folder->item_types);
}

std::vector<Target> targets_of(const Config& config, std::span<const store::ItemTypeRecord> types) {
  std::vector<Target> targets;
  for (const store::ItemTypeRecord& record : types) {
    const core::SinkSettings& sink = record.settings.sink;
    const std::string& type = record.type.str();
    if (!record.settings.enabled) continue;
    if (sink.type == core::SinkType::http) add(targets, http_target(config, type, sink.url));
    if (sink.type == core::SinkType::smpp) add(targets, smpp_target(config, type, sink.smpp));
  }
  const UsageExportConfig& usage = config.gateway.usage_export;
  if (const Result<http::Url> url = http::parse_url(usage.opensearch_url);
      url && !usage.opensearch_url.empty()) {
    targets.push_back({.name = "sink.opensearch",
                       .who = "gateway.export.opensearch-url",
                       .where = {.host = url->host,
                                 .port = url->port,
                                 .tls = url->tls,
                                 .ca_file = usage.ca_file.string()}});
  }
  return targets;
}

Finding judge_certificate(std::string name, std::string found, Instant valid_until, Instant now) {
  const auto left = std::chrono::floor<days>(valid_until - now).count();
  if (valid_until <= now) {
    return failed(std::move(name), found + "; its certificate has ended", "renew the certificate");
  }
  found += fmt::format("; its certificate ends in {} day{}", left, left == 1 ? "" : "s");
  if (valid_until - now < kRenewWithin) {
    return warning(std::move(name), found, "renew the certificate");
  }
  return ok(std::move(name), found);
}

Finding judge_target(const Target& target, const Result<Reached>& reached, Instant now) {
  if (!target.problem.empty()) {
    return failed(target.name, target.problem,
                  "correct it: PUT /admin/dispatch/types/" + target.who);
  }
  if (!reached) {
    return failed(target.name, fmt::format("{} (for {})", reached.error().what, target.who),
                  target.where.tls
                      ? "start the receiver, correct its address, or name who vouches for it in a "
                        "ca-file"
                      : "start the receiver, or correct its address or the firewall");
  }
  std::string found = fmt::format("{} answers (for {})", reached->address, target.who);
  if (!reached->valid_until) return ok(target.name, std::move(found));
  return judge_certificate(target.name, std::move(found), *reached->valid_until, now);
}

std::vector<Area> sink_areas(const Config& config, std::span<const store::ItemTypeRecord> types) {
  std::vector<Area> areas;
  for (const Target& target : targets_of(config, types)) {
    areas.push_back({target.name, [target](const runtime::Deadline& deadline) -> Findings {
                       if (!target.problem.empty()) return {judge_target(target, Reached{}, {})};
                       const Result<Reached> reached = reach(target.where, deadline);
                       return {judge_target(target, reached, runtime::SystemClock().now())};
                     }});
  }
  if (areas.empty()) {
    areas.push_back({"sink", [](const runtime::Deadline&) -> Findings {
                       return {skipped("sink", "no item type goes to HTTP or SMPP")};
                     }});
  }
  return areas;
}

}  // namespace penstock::daemon::doctor
