#include "store/slots/embedded/assign_batch.h"

#include <fmt/format.h>
#include <rocksdb/perf_level.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/iso8601.h"
#include "core/slots/placement.h"
#include "engine/rocksdb/bytes.h"
#include "store/slots/embedded/encoding.h"
#include "store/slots/embedded/records.h"

namespace penstock::store::embedded {
namespace {

std::uint64_t head_of(const std::string& text) {
  std::uint64_t head = 0;
  std::memcpy(&head, text.data(), std::min(sizeof(head), text.size()));
  static_assert(std::endian::native == std::endian::little);
  return __builtin_bswap64(head);
}

}  // namespace

std::vector<Result<Assignment>> AssignBatch::run(std::span<const SlotRequest> requests,
                                                 Instant now) {
  if (requests.empty()) return {};
  // RocksDB counts every key comparison per thread, which costs a tenth of a write; nobody reads
  // it.
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  const auto all_fail = [&](const Error& error) {
    return Answers(requests.size(), std::unexpected(error));
  };
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return all_fail(view.error());
  begin(*view, requests);
  for (std::size_t i = 0; i < requests.size(); ++i) decide(*view, i, now);
  Result<void> written = write(*view);
  Answers answers = std::move(answers_);
  end(written.has_value());
  return written ? std::move(answers) : all_fail(written.error());
}

void AssignBatch::begin(const Engine::View& view, std::span<const SlotRequest> requests) {
  requests_ = requests;
  answers_.reserve(requests.size());
  sort_events();
  look_up_.run(view, Family::event_slot, keys_, /*ascending=*/true);
}

// Ascending keys let RocksDB look them up without sorting, show duplicates as neighbours, and make
// the inserts into its sorted buffer cheaper.
void AssignBatch::sort_events() {
  const std::span<const SlotRequest> requests = requests_;
  order_.clear();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    order_.push_back({head_of(requests[i].event.str()), i});
  }
  std::ranges::sort(order_, [&](const SortKey& a, const SortKey& b) {
    if (a.head != b.head) return a.head < b.head;
    return requests[a.request].event < requests[b.request].event;
  });
  entry_of_.resize(requests.size());
  entries_.clear();
  keys_.clear();
  const std::string* last = nullptr;
  for (const SortKey& key : order_) {
    const std::string& event = requests[key.request].event.str();
    if (last == nullptr || event != *last) {
      entries_.push_back({});
      keys_.emplace_back(event);
      last = &event;
    }
    entry_of_[key.request] = entries_.size() - 1;
  }
}

const Result<Assignment>& AssignBatch::decide(const Engine::View& view, std::size_t request,
                                              Instant now) {
  const std::size_t index = entry_of_[request];
  Entry& entry = entries_[index];
  if (entry.answer != kNone) {
    answers_.push_back(Assignment{.slot = answers_[entry.answer]->slot});
    return answers_.back();
  }
  const bool replaces = !look_up_.is_missing(index);
  if (replaces) {
    Result<Assignment> held = known(view, requests_[request], index);
    if (!held || !is_over(held->slot)) {
      answers_.push_back(std::move(held));
      if (answers_.back()) entry = {.answer = answers_.size() - 1};
      return answers_.back();
    }
  }
  WindowRecords source(view);
  answers_.push_back(place(source, requests_[request], now));
  if (answers_.back()) {
    entry = {.answer = answers_.size() - 1, .fresh = true, .replaces = replaces};
  }
  return answers_.back();
}

Result<Assignment> AssignBatch::known(const Engine::View& view, const SlotRequest& request,
                                      std::size_t entry) const {
  Slot slot =
      PENSTOCK_TRY(look_up_.read(view, entry, "look the event up", [&](std::string_view value) {
        return decode_slot(request.event, value);
      }));
  return Assignment{.slot = std::move(slot)};
}

Result<Assignment> AssignBatch::place(WindowSource& source, const SlotRequest& request,
                                      Instant now) {
  PENSTOCK_TRY(check_request(request));
  const core::SlotConfig* const chosen = PENSTOCK_TRY(config_of(request.config_name));
  const core::SlotConfig& config = *chosen;
  const Instant requested = cut_to_millis(request.requested);
  const std::optional<core::Placement> placed =
      PENSTOCK_TRY(writer_.windows.take(config.pool,
                                        {.requested = requested,
                                         .max_delay = request.max_delay,
                                         .max_per_window = config.max_per_window,
                                         .window_size = config.window_size,
                                         .entropy = request.entropy},
                                        source));
  if (!placed) {
    return fail(ErrorKind::exhausted,
                fmt::format("no window of pool '{}' that starts by {} has room", config.pool.str(),
                            format_instant(requested + request.max_delay)));
  }
  const core::Placement& placement = *placed;
  std::optional<Instant> confirm_by;
  if (request.ttl) confirm_by = now + *request.ttl;
  return Assignment{.slot = {.event = request.event,
                             .config_name = request.config_name,
                             .config_version = config.version,
                             .requested = requested,
                             .window_start = placement.window_start,
                             .scheduled = placement.scheduled,
                             .created = now,
                             .confirm_by = confirm_by},
                    .fresh = true,
                    .depth = placement.depth};
}

Result<const core::SlotConfig*> AssignBatch::config_of(const ConfigName& name) {
  if (config_name_.empty() || config_name_ != name) {
    config_name_ = name;
    config_ = writer_.configs.find(name);
  }
  if (config_) return config_.get();
  return fail(ErrorKind::not_found, fmt::format("no config is named '{}'", name.str()));
}

Result<void> AssignBatch::write(const Engine::View& view) {
  Changes changes(view, std::move(buffer_));
  PENSTOCK_TRY(put(changes));
  Result<void> written = changes.commit(writer_.engine);
  buffer_ = changes.take_buffer();
  return written;
}

Result<void> AssignBatch::put(Changes& changes) {
  bool any = false;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].fresh) continue;
    any = true;
    const Slot& slot = answers_[entries_[i].answer]->slot;
    if (entries_[i].replaces) PENSTOCK_TRY(give_back(changes.view(), i, slot.created));
    encode_slot(slot, value_);
    changes.put(Family::event_slot, keys_[i].ToStringView(), value_);
    if (!slot.confirm_by) continue;
    writer_.terms_from = std::min(writer_.terms_from, *slot.confirm_by);
    changes.put(Family::slot_term, term_key(*slot.confirm_by, slot.event), encode_mark());
  }
  if (any) put_windows(writer_.windows, changes);
  return {};
}

// A slot that kept its place takes it along when its record goes: nobody else would give it back.
// Not while its window lasts, since its time may have been used; that window then counts one too
// many for good, which is the safe side.
Result<void> AssignBatch::give_back(const Engine::View& view, std::size_t entry, Instant now) {
  const std::string_view value = look_up_.value(entry);
  if (!holds_place(value)) return {};
  const Slot old = PENSTOCK_TRY(
      view.in_folder(decode_slot(answers_[entries_[entry].answer]->slot.event, value)));
  const Timeline timeline = PENSTOCK_TRY(writer_.timelines.of(view, old));
  if (now < old.window_start + timeline.size) return {};
  WindowRecords source(view);
  return writer_.windows.give_back(timeline.pool, timeline.size,
                                   core::window_of(old.window_start, timeline.size), source);
}

void AssignBatch::end(bool committed) {
  if (committed) {
    writer_.windows.committed();
  } else {
    writer_.windows.drop();  // it holds charges that are not in the database
  }
  forget();
}

// Unpins what the look-up found, before the view goes, and gives large buffers back.
void AssignBatch::forget() {
  requests_ = {};
  answers_.clear();
  config_.reset();
  config_name_ = {};
  if (!look_up_.forget()) return;
  const auto give_back = [](auto&... buffers) {
    ((buffers.clear(), buffers.shrink_to_fit()), ...);
  };
  give_back(order_, entry_of_, entries_, keys_);
  buffer_ = rocksdb::WriteBatch();
}

}  // namespace penstock::store::embedded
