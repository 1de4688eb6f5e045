#include "wire/slots.h"

#include <array>
#include <string>

#include "base/iso8601.h"
#include "wire/described.h"
#include "wire/json_fields.h"

namespace penstock::wire {
namespace {

void write_assignment_members(JsonWriter& out, const core::Slot& slot) {
  out.member("eventId", core::shown_id(slot.event))
      .member("scheduledTime", slot.scheduled)
      .member("delayMs", slot.delay().count())
      .member("windowStart", slot.window_start)
      .member("configName", slot.config_name.str());
}

}  // namespace

Result<core::SlotCall> decode_slot_call(JsonValue value) {
  JsonFields fields(value);
  core::SlotCall call;
  call.event = fields.required_id<EventId>("eventId");
  call.config_name = fields.optional_id<ConfigName>("configName");
  call.requested = fields.required_instant("requestedTime");
  call.max_delay = fields.optional_duration("maxDelay");
  if (call.max_delay && *call.max_delay > core::kMaxDelayMax) {
    fields.problem("maxDelay", "must be at most P366D");
  }
  call.ttl = fields.optional_duration("ttl");
  if (call.ttl && (*call.ttl <= Millis{0} || *call.ttl > core::kSlotTtlMax)) {
    fields.problem("ttl", "must be more than PT0S and at most P366D");
  }
  if (fields.error()) return std::unexpected(*fields.error());
  return call;
}

Result<BurstCall> decode_burst_call(JsonValue value) {
  JsonFields fields(value);
  BurstCall call;
  call.config_name = fields.optional_id<ConfigName>("configName");
  call.requested = fields.required_instant("requestedTime");
  call.count = fields.required_integer("count");
  if (call.count < 1 || call.count > kBurstMax) {
    fields.problem("count", "must be from 1 to 1000000000");
  }
  if (fields.error()) return std::unexpected(*fields.error());
  return call;
}

std::string encode_burst(const core::Burst& burst) {
  JsonWriter out;
  const auto instant = [&](std::string_view name, const std::optional<Instant>& value) {
    out.key(name);
    value ? out.value(*value) : out.null();
  };
  out.begin_object();
  instant("firstScheduledTime", burst.first);
  instant("lastScheduledTime", burst.last);
  out.member("windowsUsed", burst.windows_used).member("placed", burst.placed).end_object();
  return std::move(out).take();
}

Result<core::SlotConfigDraft> decode_slot_config(JsonValue value,
                                                 const core::SlotConfigDraft* in_force) {
  constexpr std::array<std::string_view, 4> kAlso = {"windowSizeSecs", "version", "active",
                                                     "effectiveFrom"};
  JsonFields fields(value);
  const auto secs = fields.optional_integer("windowSizeSecs");
  if (fields.error()) return std::unexpected(*fields.error());
  core::SlotConfigDraft draft;
  if (in_force != nullptr) draft = *in_force;
  PENSTOCK_TRY(read_record(describe<core::SlotConfigDraft>(), &draft, value,
                           {.also = kAlso, .whole = in_force == nullptr}));
  if (in_force != nullptr && draft.name != in_force->name) {
    return invalid_field("configName", "must be that of the config, or absent");
  }
  const JsonValue size = value.find("windowSize");
  const bool has_size = size && !size.is_null();
  if (has_size && secs) return invalid_field("windowSize", "must not stand beside windowSizeSecs");
  if (!has_size && !secs && in_force == nullptr) {
    return invalid_field("windowSize", "is required, as windowSize or windowSizeSecs");
  }
  if (secs) {
    // Here, before the multiplication could overflow.
    constexpr auto kSecsMax = std::chrono::duration_cast<Seconds>(core::kWindowSizeMax).count();
    if (*secs < 1 || *secs > kSecsMax) {
      return invalid_field("windowSizeSecs", "must be from 1 to " + std::to_string(kSecsMax));
    }
    draft.window_size = Seconds{*secs};
  }
  if (draft.pool.empty()) draft.pool = PoolName::trusted(draft.name.str());
  PENSTOCK_TRY(check_record(draft));
  return draft;
}

void encode_assignment(JsonWriter& out, const core::Slot& slot) {
  out.begin_object();
  write_assignment_members(out, slot);
  out.end_object();
}

void encode_slot(JsonWriter& out, const core::Slot& slot) {
  out.begin_object();
  write_assignment_members(out, slot);
  out.member("status", core::to_string(slot.status))
      .member("requestedTime", slot.requested)
      .member("createdAt", slot.created)
      .member("configVersion", slot.config_version);
  if (slot.confirm_by) out.member("confirmBy", *slot.confirm_by);
  if (const auto owner = core::owner_of(slot.event); !owner.empty()) out.member("owner", owner);
  out.end_object();
}

void encode_slot_config(JsonWriter& out, const core::SlotConfig& config) {
  out.begin_object();
  write_members(out, draft_of(config), Secrets::counted);
  out.member("version", config.version)
      .member("active", config.active)
      .member("effectiveFrom", config.effective_from)
      .end_object();
}

std::string encode_windows(const core::SlotConfig& config, std::span<const core::WindowUse> windows,
                           bool truncated) {
  JsonWriter out(128 + windows.size() * 72);  // one window is about 70 bytes
  out.begin_object()
      .member("config", config.name.str())
      .member("pool", config.pool.str())
      .member("windowSize", format_duration(config.window_size))
      .key("windows")
      .begin_array();
  for (const core::WindowUse& window : windows) {
    out.begin_object()
        .member("windowStart", window.start)
        .member("used", window.used)
        .member("max", config.max_per_window)
        .end_object();
  }
  out.end_array();
  if (truncated && !windows.empty()) {
    out.member("truncated", true).member("next", windows.back().start + config.window_size);
  }
  out.end_object();
  return std::move(out).take();
}

}  // namespace penstock::wire
