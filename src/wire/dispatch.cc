#include "wire/dispatch.h"

#include <string>
#include <utility>

#include "wire/json_digest.h"
#include "wire/json_fields.h"

namespace penstock::wire {
namespace {

// A literal segment of a route is no id.
bool is_reserved(const ItemId& id) { return id.str() == "batch" || id.str() == "summary"; }

core::SlotAsk decode_slot(JsonValue value, JsonFields& outer) {
  JsonFields fields(value);
  core::SlotAsk slot{.config = fields.optional_id<ConfigName>("config"),
                     .requested = fields.optional_instant("requestedTime")};
  if (fields.error()) {
    Error error = *fields.error();
    if (!error.field.empty()) {
      error.what = "slot." + error.what;
      error.field = "slot." + error.field;
    }
    outer.problem(std::move(error));
  }
  return slot;
}

core::BodyDigest digest_of(const core::ItemCall& call, JsonValue context) {
  JsonDigester digester;
  if (call.due) digester.add(std::string_view("time")).add(to_epoch_millis(*call.due));
  if (call.slot) {
    digester.add(std::string_view("slot")).add(std::string_view(call.slot->config.str()));
    const auto& requested = call.slot->requested;
    digester.add(requested ? to_epoch_millis(*requested) : std::int64_t{-1});
  }
  if (context) digester.add(context);
  return digester.finish();
}

}  // namespace

Result<core::ItemCall> decode_item_call(JsonValue value, const ItemType& type,
                                        std::size_t context_bytes_max, std::string_view other_id) {
  JsonFields fields(value);
  core::ItemCall call{.type = type,
                      .id = {},
                      .due = fields.optional_instant("scheduledTime"),
                      .slot = std::nullopt,
                      .context = "null",
                      .digest = {}};
  if (fields.error()) return std::unexpected(*fields.error());
  const JsonValue id = value.find("itemId");
  if (other_id.empty() || (id && !id.is_null())) {
    call.id = fields.required_id<ItemId>("itemId");
    if (fields.error()) return std::unexpected(*fields.error());
  } else {
    call.id = PENSTOCK_TRY(ItemId::parse("itemId", other_id));
  }
  if (is_reserved(call.id)) return invalid_field("itemId", "this word is reserved");
  if (const std::optional<JsonValue> slot = fields.optional_object("slot")) {
    call.slot = decode_slot(*slot, fields);
    if (type.str().size() + 1 + call.id.str().size() > kIdBytesMax) {
      fields.problem("itemId", "with a slot, itemType:itemId must fit into 128 characters");
    }
  }
  if (fields.error()) return std::unexpected(*fields.error());
  if (call.due.has_value() == call.slot.has_value()) {
    return invalid_field("scheduledTime",
                         call.due ? "give a time or a slot, not both" : "give a time or a slot");
  }
  const JsonValue context = value.find("context");
  if (context) {
    if (context.raw().size() > context_bytes_max) {
      return std::unexpected(
          Error{.kind = ErrorKind::too_large,
                .what = "context: must be at most " + std::to_string(context_bytes_max) + " bytes",
                .field = "context"});
    }
    call.context = context.raw();
  }
  call.digest = digest_of(call, context);
  return call;
}

}  // namespace penstock::wire
