#include "front/http/routes/dispatch_views.h"

#include <cmath>

#include "core/dispatch/item.h"
#include "wire/described.h"

#include "front/http/routes/exchange.h"

namespace penstock::front {
namespace {

using wire::JsonWriter;

template <class T>
void member_or_null(JsonWriter& out, std::string_view name, const std::optional<T>& value) {
  out.key(name);
  value ? out.value(*value) : out.null();
}

void encode_audit(JsonWriter& out, const store::AuditEntry& entry) {
  out.begin_object().member("at", entry.at).member("action", entry.action).key("from");
  entry.from ? out.value(core::item_state_name(*entry.from)) : out.null();
  out.member("to", core::item_state_name(entry.to));
  text_or_null(out, "batchId", entry.batch_id);
  text_or_null(out, "detail", entry.detail);
  out.end_object();
}

}  // namespace

void encode_taken(JsonWriter& out, std::string_view type, std::string_view id,
                  const store::Enqueued& taken) {
  out.member("itemType", type)
      .member("itemId", id)
      .member("status", core::item_state_name(taken.state))
      .member("scheduledTime", taken.scheduled);
}

std::string encode_item(const store::ItemView& item) {
  JsonWriter out(512 + item.audit.size() * 160);
  out.begin_object()
      .member("itemType", item.type.str())
      .member("itemId", item.id.str())
      .member("status", core::item_state_name(item.state))
      .member("scheduledTime", item.scheduled)
      .member("retryCount", item.retry_count)
      .member("attempts", item.attempts);
  text_or_null(out, "lastError", item.last_error);
  out.member("createdAt", item.created);
  member_or_null(out, "claimedAt", item.claimed);
  member_or_null(out, "dispatchedAt", item.dispatched);
  text_or_null(out, "batchId", item.batch_id);
  out.key("audit").begin_array();
  for (const store::AuditEntry& entry : item.audit) encode_audit(out, entry);
  out.end_array().end_object();
  return std::move(out).take();
}

void encode_dead(JsonWriter& out, const store::DeadItem& item) {
  out.begin_object()
      .member("itemId", item.id.str())
      .member("status", core::item_state_name(core::ItemState::dead))
      .member("diedAt", item.died)
      .member("scheduledTime", item.scheduled)
      .member("attempts", item.attempts);
  text_or_null(out, "lastError", item.last_error);
  out.end_object();
}

std::string encode_summary(const service::DispatchSummary& summary) {
  JsonWriter out;
  out.begin_object().member("itemType", summary.type.str()).key("counts").begin_object();
  for (std::size_t i = 0; i < core::kItemStates; ++i) {
    out.member(core::item_state_name(static_cast<core::ItemState>(i)),
               static_cast<std::int64_t>(summary.queue.counts[i]));
  }
  out.end_object();
  member_or_null(out, "oldestDue", summary.queue.oldest_due);
  std::optional<std::int64_t> drain;
  if (summary.drain_seconds) drain = static_cast<std::int64_t>(std::ceil(*summary.drain_seconds));
  member_or_null(out, "predictedDrainSeconds", drain);
  member_or_null(out, "pausedUntil", summary.paused_until);
  out.key("leaseHolder");
  summary.lease_holder ? out.value(*summary.lease_holder) : out.null();
  out.end_object();
  return std::move(out).take();
}

void encode_item_type(JsonWriter& out, const store::ItemTypeRecord& record, Kinds kinds) {
  out.begin_object().member("itemType", record.type.str());
  wire::write_members(out, record.settings, wire::Secrets::counted, kinds);
  out.member("version", record.version).member("changedAt", record.changed).end_object();
}

std::string encode_type_history(const std::vector<service::ItemTypeChange>& changes, Kinds kinds) {
  JsonWriter out;
  out.begin_array();
  for (const service::ItemTypeChange& change : changes) {
    out.begin_object().member("at", change.at).key("old");
    if (change.before) {
      out.begin_object();
      wire::write_members(out, *change.before, wire::Secrets::counted, kinds);
      out.end_object();
    } else {
      out.null();
    }
    out.key("new").begin_object();
    wire::write_members(out, change.after, wire::Secrets::counted, kinds);
    out.end_object().end_object();
  }
  out.end_array();
  return std::move(out).take();
}

}  // namespace penstock::front
