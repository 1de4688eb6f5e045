#include "front/http/routes/live_feed.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "wire/json.h"

namespace penstock::front {
namespace {

constexpr std::size_t kTypesMax = 200;  // shown; a type is about 150 bytes of every event

constexpr std::size_t column(std::string_view name) {
  const auto found = std::ranges::find(LiveFeed::kColumns, name);
  if (found == LiveFeed::kColumns.end()) throw "no such column";  // at compile time
  return static_cast<std::size_t>(found - LiveFeed::kColumns.begin());
}

// Which columns a metric is added to: its value, and the sum of a histogram.
struct Source {
  std::string_view metric;
  std::size_t value;
  std::optional<std::size_t> sum = {};
};
constexpr std::array kSources = {
    Source{"throttlex_allowed_total", column("allowed")},
    Source{"throttlex_blocked_total", column("denied")},
    Source{"penstock_throttle_shadow_denied_total", column("shadowDenied")},
    Source{"penstock_throttle_store_failures_total", column("throttleErrors")},
    Source{"penstock_throttle_keys", column("throttleKeys")},
    Source{"rate_limiter_slot_assignment_duration_seconds", column("assigned"),
           column("assignSeconds")},
    Source{"penstock_slots_delay_seconds", column("slotsGiven"), column("slotDelaySeconds")},
    Source{"rate_limiter_slot_assignment_failures_total", column("slotFailures")},
    Source{"dispatch_workflow_started_total", column("dispatched")},
    Source{"dispatch_workflow_start_failures_total", column("failed")},
    Source{"dispatch_lateness_seconds", column("lateItems"), column("lateSeconds")},
    Source{"penstock_http_requests_total", column("requests")},
    Source{"penstock_http_connections", column("connections")},
};

// The value of one label, its escapes undone; empty when it is not there.
std::string label(std::string_view labels, std::string_view name) {
  const std::string start = std::string(name) + "=\"";
  std::size_t at = labels.starts_with(start) ? 0 : labels.find("," + start);
  if (at == labels.npos) return {};
  at = labels.find('"', at) + 1;
  std::string value;
  for (; at < labels.size() && labels[at] != '"'; ++at) {
    if (labels[at] == '\\' && at + 1 < labels.size()) ++at;
    value += labels[at];
  }
  return value;
}

void append_number(std::string& out, double value) {
  if (!std::isfinite(value)) value = 0;
  // Whole ones in full; the others are sums of seconds, and ratios.
  if (value == std::floor(value) && std::abs(value) < 1e15) {
    fmt::format_to(std::back_inserter(out), "{}", static_cast<std::int64_t>(value));
  } else {
    fmt::format_to(std::back_inserter(out), "{:.6g}", value);
  }
}

template <class Row>
void append_row(std::string& out, const Row& row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) out += ',';
    append_number(out, row[i]);
  }
}

}  // namespace

struct LiveFeed::Type {
  std::string name;
  double dispatched = 0;
  double failed = 0;
  double slow_downs = 0;
  double pace_used = 0;
  double paused = 0;
  double lease_held = 0;
  std::array<double, 5> depths{};  // READY … CANCELLED
};

LiveFeed::LiveFeed(runtime::Metrics& metrics, std::vector<ReadyCheck> checks, const Clock& clock)
    : metrics_(metrics), checks_(std::move(checks)), clock_(clock) {
  for (const ReadyCheck& check : checks_) {
    runtime::Gauge& up = metrics.gauge(
        "penstock_check_up", "1 while a part that /health/ready looks at works, a second ago",
        {{"check", check.name}});
    up.set(1);
    checks_up_.push_back(&up);
  }
}

SharedEvent LiveFeed::sample() {
  Sample taken{.millis = to_epoch_millis(clock_.now())};
  std::vector<Type> types;
  const auto type_of = [&](std::string_view labels) -> Type* {
    std::string name = label(labels, "item_type");
    const auto known = std::ranges::find(types, name, &Type::name);
    if (known != types.end()) return &*known;
    if (types.size() == kTypesMax) return nullptr;
    types.push_back({.name = std::move(name)});
    return &types.back();
  };
  constexpr std::size_t kReady = column("READY");
  metrics_.visit([&](const runtime::Metrics::Sample& each) {
    const auto source = std::ranges::find(kSources, each.name, &Source::metric);
    if (source != kSources.end()) {
      taken.row[source->value] += each.value;
      if (source->sum) taken.row[*source->sum] += each.sum;
      if (each.name == "penstock_http_requests_total" &&
          label(each.labels, "status").starts_with('5')) {
        taken.row[column("serverErrors")] += each.value;
      }
    }
    if (each.name == "dispatch_queue_depth") {
      const std::string status = label(each.labels, "status");
      for (std::size_t i = 0; i < 5; ++i) {
        if (kColumns[kReady + i] != status) continue;
        taken.row[kReady + i] += each.value;
        if (Type* type = type_of(each.labels)) type->depths[i] = each.value;
      }
      return;
    }
    if (!each.name.starts_with("dispatch_")) return;
    static constexpr std::pair<std::string_view, double Type::*> kOfType[] = {
        {"dispatch_workflow_started_total", &Type::dispatched},
        {"dispatch_workflow_start_failures_total", &Type::failed},
        {"dispatch_slow_downs_total", &Type::slow_downs},
        {"dispatch_pace_used_ratio", &Type::pace_used},
        {"dispatch_paused", &Type::paused},
        {"dispatch_lease_held", &Type::lease_held},
    };
    for (const auto& [name, member] : kOfType) {
      if (name != each.name) continue;
      if (Type* type = type_of(each.labels)) type->*member = each.value;
    }
  });
  std::ranges::sort(types, {}, &Type::name);
  const auto event = std::make_shared<StreamEvent>();
  event->bytes = encode(taken, types);
  const std::lock_guard lock(mutex_);
  event->number = ++number_;
  if (kept_.size() == kKept) kept_.pop_front();
  kept_.push_back(taken);
  return event;
}

std::string LiveFeed::encode(const Sample& sample, const std::vector<Type>& types) const {
  std::string out;
  out.reserve(512 + types.size() * 160);
  fmt::format_to(std::back_inserter(out), "event: sample\ndata: {{\"t\":{},\"c\":[", sample.millis);
  append_row(out, sample.row);
  out += "],";
  wire::JsonWriter rest;
  rest.begin_object().key("types").begin_array();
  for (const Type& type : types) {
    std::string depths;
    append_row(depths, type.depths);
    rest.begin_object()
        .member("type", type.name)
        .member("dispatched", static_cast<std::int64_t>(type.dispatched))
        .member("failed", static_cast<std::int64_t>(type.failed))
        .member("slowDowns", static_cast<std::int64_t>(type.slow_downs))
        .key("paceUsed")
        .raw(fmt::format("{:.3f}", std::isfinite(type.pace_used) ? type.pace_used : 0.0))
        .member("paused", type.paused > 0)
        .member("leaseHeld", type.lease_held > 0)
        .key("depths")
        .raw("[" + depths + "]")
        .end_object();
  }
  rest.end_array().key("checks").begin_array();
  for (std::size_t i = 0; i < checks_.size(); ++i) {
    const ReadyCheck& check = checks_[i];
    const bool applies = !check.applies || check.applies();
    const Result<void> result = applies ? check.check() : Result<void>();
    checks_up_[i]->set(result ? 1 : 0);
    if (!applies) continue;
    rest.begin_object().member("name", check.name).member("up", result.has_value());
    if (!result) rest.member("message", result.error().what);
    rest.end_object();
  }
  rest.end_array().end_object();
  out.append(rest.str(), 1);  // its brace is open already
  out += "\n\n";
  return out;
}

Response LiveFeed::open() const {
  Response response{.content_type = "text/event-stream; charset=utf-8"};
  response.header_lines = "X-Accel-Buffering: no\r\n";
  std::string& out = response.body;
  out = "retry: 2000\nevent: history\ndata: {\"columns\":[";
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    fmt::format_to(std::back_inserter(out), "{}\"{}\"", i == 0 ? "" : ",", kColumns[i]);
  }
  out += "],\"rows\":[";
  const std::lock_guard lock(mutex_);
  response.stream_after = number_;
  bool any = false;
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    const std::uint64_t number = number_ - (kept_.size() - 1 - i);
    if (i + kEverySecond < kept_.size() && number % kStride != 0) continue;
    if (std::exchange(any, true)) out += ',';
    fmt::format_to(std::back_inserter(out), "[{},", kept_[i].millis);
    append_row(out, kept_[i].row);
    out += ']';
  }
  out += "]}\n\n";
  return response;
}

void add_event_routes(std::vector<Route>& routes, const LiveFeed& feed) {
  routes.emplace_back(wire::route("watch"),
                      [&feed](const Request&, Reply&& reply) { reply(feed.open()); });
}

}  // namespace penstock::front
