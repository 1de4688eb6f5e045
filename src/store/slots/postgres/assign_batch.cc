#include "store/slots/postgres/assign_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/iso8601.h"
#include "core/slots/placement.h"

namespace penstock::store::postgres {
namespace {

enum Failure : std::int64_t { kNone = 0, kNoConfig = 1, kNoRoom = 2 };

constexpr std::int64_t kNoTerm = -1;

std::int64_t term_of(const SlotRequest& request) {
  return request.ttl ? std::max(*request.ttl, Millis::zero()).count() : kNoTerm;
}

// A null in an array reads as zero.
std::optional<Instant> confirm_by_of(std::int64_t micros) {
  return micros == 0 ? std::nullopt : std::optional(from_epoch_us(micros));
}

}  // namespace

// The columns of the answer, in the order of the function's OUT parameters.
struct AssignBatch::Answer {
  explicit Answer(const Rows& rows)
      : outcome(rows.integers(0, 0)),
        failure(rows.integers(0, 1)),
        run_group(rows.integers(0, 2)),
        run_start(rows.integers(0, 3)),
        run_used(rows.integers(0, 4)),
        config_hint(rows.integers(0, 5)),
        config_version(rows.integers(0, 6)),
        config_max(rows.integers(0, 7)),
        config_pool(rows.integers(0, 8)),
        config_size(rows.integers(0, 9)),
        known_event(rows.integers(0, 10)),
        known_requested(rows.integers(0, 11)),
        known_start(rows.integers(0, 12)),
        known_scheduled(rows.integers(0, 13)),
        known_created(rows.integers(0, 14)),
        known_status(rows.integers(0, 15)),
        known_config(rows.texts(0, 16)),
        known_version(rows.integers(0, 17)),
        known_confirm_by(rows.integers(0, 18)),
        created(from_epoch_us(rows.int8(0, 19))) {}

  std::vector<std::int64_t> outcome, failure;
  std::vector<std::int64_t> run_group, run_start, run_used;
  std::vector<std::int64_t> config_hint, config_version, config_max, config_pool, config_size;
  std::vector<std::int64_t> known_event, known_requested, known_start, known_scheduled,
      known_created, known_status;
  std::vector<std::string_view> known_config;
  std::vector<std::int64_t> known_version, known_confirm_by;
  Instant created;
};

AssignBatch::AssignBatch(std::span<const SlotRequest> requests, std::optional<Instant> now,
                         const FullHints& hints)
    : requests_(requests), now_(now) {
  group_of_.reserve(requests.size());
  same_as_.reserve(requests.size());
  last_place_.reserve(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) add(i, hints);
  for (const ConfigName* name : names_) {
    const std::int32_t pool = hints.pool(*name);
    if (pool == 0) {
      likely_pools_.clear();
      break;
    }
    likely_pools_.push_back(pool);
  }
}

std::int32_t AssignBatch::name_index(const ConfigName& name) {
  // A batch has few configs; most requests have that of their neighbour.
  for (std::size_t i = names_.size(); i-- > 0;) {
    if (*names_[i] == name) return static_cast<std::int32_t>(i) + 1;
  }
  names_.push_back(&name);
  return static_cast<std::int32_t>(names_.size());
}

bool AssignBatch::continues_group(std::size_t place) const {
  if (group_head_.empty() || same_as_[place] != 0 || group_same_as_.back() != 0) return false;
  const SlotRequest& head = *group_head_.back();
  const SlotRequest& request = requests_[place];
  return head.requested == request.requested && head.max_delay == request.max_delay &&
         head.config_name == request.config_name &&
         id_problem(core::shown_id(request.event)).empty();
}

void AssignBatch::add(std::size_t place, const FullHints& hints) {
  const SlotRequest& request = requests_[place];
  const auto number = static_cast<std::int32_t>(place) + 1;
  const auto [seen, first] = last_place_.try_emplace(request.event.str(), number);
  same_as_.push_back(first ? 0 : std::exchange(seen->second, number));
  if (continues_group(place)) {
    ++group_count_.back();
  } else {
    // A request that is not sound still gets the slot its event may have, but no new one.
    const bool sound = check_request(request).has_value();
    const Instant requested = sound ? cut_to_millis(request.requested) : kInstantMin;
    const SkipHint hint = sound ? hints.skip(request.config_name, requested) : SkipHint{};
    group_head_.push_back(&request);
    group_count_.push_back(1);
    group_config_.push_back(sound ? name_index(request.config_name) : 0);
    group_requested_.push_back(to_epoch_millis(requested));
    group_max_delay_.push_back(sound ? request.max_delay.count() : 0);
    group_skip_to_.push_back(to_epoch_millis(hint.to));
    group_skip_id_.push_back(hint.config);
    group_same_as_.push_back(same_as_.back());
  }
  group_of_.push_back(static_cast<std::int32_t>(group_head_.size()) - 1);
}

// Ascending by event id; equal ids in the order of the batch.
void AssignBatch::add_events(Params& params) const {
  std::vector<std::int32_t> places(requests_.size());
  std::iota(places.begin(), places.end(), 0);
  std::ranges::sort(places, [&](std::int32_t a, std::int32_t b) {
    const int order = requests_[static_cast<std::size_t>(a)].event.str().compare(
        requests_[static_cast<std::size_t>(b)].event.str());
    return order != 0 ? order < 0 : a < b;
  });
  const auto request_at = [&](std::int32_t place) -> const SlotRequest& {
    return requests_[static_cast<std::size_t>(place)];
  };
  const auto events =
      column(places, [&](std::int32_t place) -> const EventId& { return request_at(place).event; });
  const auto entropy = column(places, [&](std::int32_t place) {
    return static_cast<std::int64_t>(request_at(place).entropy);
  });
  std::vector<std::int64_t> terms;
  if (std::ranges::any_of(requests_, [](const auto& request) { return request.ttl.has_value(); })) {
    terms = column(places, [&](std::int32_t place) { return term_of(request_at(place)); });
  }
  for (std::int32_t& place : places) ++place;  // from 1 there
  params.texts(events).int8s(entropy).int4s(places).int8s(terms);
}

Params AssignBatch::params(LookUp look_up) const {
  Params params;
  add_events(params);
  params.int4s(group_count_)
      .int4s(group_config_)
      .int8s(group_requested_)
      .int8s(group_max_delay_)
      .int8s(group_skip_to_)
      .int8s(group_skip_id_)
      .int4s(group_same_as_)
      .texts(column(names_, [](const ConfigName* name) -> const ConfigName& { return *name; }))
      .int4s(likely_pools_)
      .int4(static_cast<std::int32_t>(look_up));
  put_value(params, now_);
  return params;
}

Result<Assignment> AssignBatch::fresh(const Answer& answer, std::size_t place,
                                      std::size_t run) const {
  const SlotRequest& request = requests_[place];
  const auto group = static_cast<std::size_t>(answer.run_group[run]) - 1;
  const auto config = static_cast<std::size_t>(group_config_[group]) - 1;
  const Millis size{answer.config_size[config]};
  const Instant requested = from_epoch_millis(group_requested_[group]);
  const Instant start = from_epoch_millis(answer.run_start[run]);
  const Instant first = core::window_start(core::window_of(requested, size), size);
  const Millis low = start == first ? core::elapsed_in_window(requested, size) : Millis::zero();
  std::optional<Instant> confirm_by;
  if (request.ttl) confirm_by = answer.created + Millis{term_of(request)};
  return Assignment{.slot = {.event = request.event,
                             .config_name = request.config_name,
                             .config_version = answer.config_version[config],
                             .requested = requested,
                             .window_start = start,
                             .scheduled = start + core::jitter(request.entropy, low, size),
                             .created = answer.created,
                             .confirm_by = confirm_by},
                    .fresh = true,
                    .depth = (start - first) / size};
}

Error AssignBatch::refusal(const Answer& answer, std::size_t place) const {
  const SlotRequest& request = requests_[place];
  if (Result<void> sound = check_request(request); !sound) return std::move(sound.error());
  const auto group = static_cast<std::size_t>(group_of_[place]);
  if (answer.failure[group] == kNoConfig) {
    return {.kind = ErrorKind::not_found,
            .what = fmt::format("no config is named '{}'", request.config_name.str())};
  }
  return {.kind = ErrorKind::exhausted,
          .what = fmt::format("no window of config '{}' that starts by {} has room",
                              request.config_name.str(),
                              format_instant(request.requested + request.max_delay))};
}

void AssignBatch::teach(const Answer& answer, FullHints& hints) const {
  const auto learn = [&](std::size_t group, auto&& range) {
    const auto config = static_cast<std::size_t>(group_config_[group]) - 1;
    const Millis size{answer.config_size[config]};
    const Instant requested = from_epoch_millis(group_requested_[group]);
    // Of the first window only a share was compared; whether it is full is not known.
    const Instant second = core::window_start(core::window_of(requested, size) + 1, size);
    const auto [from, to] = range(second, size, answer.config_max[config]);
    hints.learn(*names_[config], answer.config_hint[config], from, to);
  };
  for (std::size_t config = 0; config < answer.config_hint.size(); ++config) {
    if (answer.config_hint[config] == 0) continue;
    hints.saw(*names_[config], {.id = answer.config_hint[config],
                                .pool = static_cast<std::int32_t>(answer.config_pool[config]),
                                .window_size = Millis{answer.config_size[config]}});
  }
  for (std::size_t run = 0; run < answer.run_group.size(); ++run) {
    learn(static_cast<std::size_t>(answer.run_group[run]) - 1,
          [&](Instant second, Millis size, std::int64_t max) {
            const Instant start = from_epoch_millis(answer.run_start[run]);
            const bool full = answer.run_used[run] >= max;
            return std::pair(std::min(second, start), full ? start + size : start);
          });
  }
  for (std::size_t group = 0; group < answer.failure.size(); ++group) {
    if (answer.failure[group] != kNoRoom) continue;
    learn(group, [&](Instant second, Millis size, std::int64_t) {
      const Instant latest = from_epoch_millis(group_requested_[group] + group_max_delay_[group]);
      return std::pair(second, core::window_start(core::window_of(latest, size) + 1, size));
    });
  }
}

std::vector<Result<Assignment>> AssignBatch::read(const Rows& rows, FullHints& hints) const {
  const Answer answer(rows);
  std::vector<Result<Assignment>> results;
  results.reserve(requests_.size());
  if (rows.size() != 1 || answer.outcome.size() != requests_.size()) {
    results.assign(requests_.size(), fail(ErrorKind::corrupt, "assign_slots answered nonsense"));
    return results;
  }
  std::size_t known = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (known < answer.known_event.size() &&
        answer.known_event[known] == static_cast<std::int64_t>(i) + 1) {
      results.push_back(Assignment{
          .slot = {.event = requests_[i].event,
                   .config_name = ConfigName::trusted(std::string(answer.known_config[known])),
                   .config_version = answer.known_version[known],
                   .requested = from_epoch_millis(answer.known_requested[known]),
                   .window_start = from_epoch_millis(answer.known_start[known]),
                   .scheduled = from_epoch_millis(answer.known_scheduled[known]),
                   .created = from_epoch_us(answer.known_created[known]),
                   .status = static_cast<SlotStatus>(answer.known_status[known]),
                   .confirm_by = confirm_by_of(answer.known_confirm_by[known])}});
      ++known;
    } else if (answer.outcome[i] > 0) {
      results.push_back(fresh(answer, i, static_cast<std::size_t>(answer.outcome[i]) - 1));
    } else if (answer.outcome[i] < 0) {
      const auto& earlier = results[static_cast<std::size_t>(same_as_[i]) - 1];
      results.push_back(Assignment{.slot = earlier->slot});
    } else {
      results.push_back(std::unexpected(refusal(answer, i)));
    }
  }
  teach(answer, hints);
  return results;
}

}  // namespace penstock::store::postgres
