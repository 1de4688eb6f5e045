// Where item types send their items: whether it can be reached. Nothing is sent there. The
// judgements are pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "daemon/config/config.h"
#include "daemon/doctor/finding.h"
#include "daemon/doctor/reach.h"
#include "daemon/doctor/runner.h"
#include "store/queue/ports.h"

namespace penstock::daemon::doctor {

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
