#include <vector>

#include "tool/calls/calls.h"

namespace penstock::tool {
namespace {

const Argument kType{.names = "ITEM_TYPE",
                     .field = "itemType",
                     .help = "The type of the items",
                     .place = Place::path,
                     .required = true};

const Argument kItem{.names = "ITEM_ID",
                     .field = "itemId",
                     .help = "The item within its type",
                     .place = Place::path,
                     .required = true};

View item_view() {
  return {.lines = {{"type", "itemType"},
                    {"item", "itemId"},
                    {"status", "status"},
                    {"scheduled", "scheduledTime", Form::instant},
                    {"attempts", "attempts", Form::count},
                    {"failed", "retryCount", Form::count},
                    {"last error", "lastError"},
                    {"created", "createdAt", Form::instant},
                    {"claimed", "claimedAt", Form::instant},
                    {"dispatched", "dispatchedAt", Form::instant},
                    {"batch", "batchId"}},
          .rows = "audit",
          .columns = {{"at", "at", Form::instant},
                      {"action", "action"},
                      {"from", "from"},
                      {"to", "to"},
                      {"detail", "detail"}}};
}

Call enqueue() {
  Argument item = kItem;
  item.place = Place::body;
  return {
      .name = "enqueue",
      .method = "POST",
      .path = "/api/v1/dispatch/{itemType}",
      .description =
          "Schedule an item: at a time, or by --slot when a window of a config has room.\n"
          "Durable when it is answered; the same again changes nothing.",
      .examples = {"penstock dispatch enqueue ORDER o-1 --at now+PT10M",
                   "penstock dispatch enqueue ORDER o-2 --at now --context '{\"customer\": 17}'",
                   "penstock dispatch enqueue ORDER o-3 --slot payments --context @order.json"},
      .arguments = {kType,
                    item,
                    {.names = "--at",
                     .field = "scheduledTime",
                     .help = "Not before: 2025-06-01T12:00:00Z, now, now+PT1H",
                     .kind = ArgumentKind::time},
                    {.names = "--slot",
                     .field = "slot.config",
                     .help = "Take the first free slot of this config, instead of --at",
                     .value_name = "CONFIG"},
                    {.names = "--slot-at",
                     .field = "slot.requestedTime",
                     .help = "The earliest slot that is wanted; without it, now",
                     .kind = ArgumentKind::time},
                    {.names = "--context",
                     .field = "context",
                     .help = "Handed over with it: JSON text, @FILE, or - for standard input",
                     .kind = ArgumentKind::json}},
      .view = {.lines = {{"type", "itemType"},
                         {"item", "itemId"},
                         {"status", "status"},
                         {"scheduled", "scheduledTime", Form::instant}}}};
}

Call enqueue_batch() {
  return {.name = "batch",
          .method = "POST",
          .path = "/api/v1/dispatch/{itemType}/batch",
          .description = "Schedule up to 10,000 items in one call.",
          .examples = {"penstock dispatch batch ORDER orders.ndjson",
                       "echo '[{\"itemId\": \"o-1\", \"scheduledTime\": "
                       "\"2030-01-01T12:00:00Z\"}]' | penstock dispatch batch ORDER -"},
          .arguments = {kType},
          .body = BodySource::entries,
          .view = {.rows = "results",
                   .columns = {{"item", "itemId"},
                               {"answer", "status"},
                               {"state", "state"},
                               {"scheduled", "scheduledTime", Form::instant},
                               {"error", "message"}},
                   .none = "no entries"}};
}

Call list_items() {
  return {.name = "list",
          .method = "GET",
          .path = "/api/v1/dispatch/{itemType}",
          .description =
              "List the dead items of a type, the newest first: those that ran out of\n"
              "attempts. `redrive` tries one again.",
          .examples = {"penstock dispatch list ORDER", "penstock dispatch list ORDER --all --json"},
          .arguments = {kType},
          .query = "status=DEAD",
          .paged = true,
          .view = {.rows = ".",
                   .columns = {{"item", "itemId"},
                               {"died", "diedAt", Form::instant},
                               {"scheduled", "scheduledTime", Form::instant},
                               {"attempts", "attempts", Form::count},
                               {"last error", "lastError"}},
                   .none = "no dead items"}};
}

Call summary() {
  return {.name = "summary",
          .method = "GET",
          .path = "/api/v1/dispatch/{itemType}/summary",
          .description = "Show how the queue of a type stands, and when it will be empty.",
          .examples = {"penstock dispatch summary ORDER"},
          .arguments = {kType},
          .view = {.lines = {{"type", "itemType"},
                             {"ready", "counts.READY", Form::count},
                             {"claimed", "counts.CLAIMED", Form::count},
                             {"dispatched", "counts.DISPATCHED", Form::count},
                             {"dead", "counts.DEAD", Form::count},
                             {"cancelled", "counts.CANCELLED", Form::count},
                             {"oldest due", "oldestDue", Form::instant},
                             {"empty in", "predictedDrainSeconds", Form::seconds},
                             {"paused until", "pausedUntil", Form::instant},
                             {"handed over by", "leaseHolder"}}}};
}

}  // namespace

std::span<const Call> dispatch_calls() {
  static const std::vector<Call> calls{
      enqueue(),
      enqueue_batch(),
      {.name = "get",
       .method = "GET",
       .path = "/api/v1/dispatch/{itemType}/{itemId}",
       .description = "Show an item and what happened to it.",
       .examples = {"penstock dispatch get ORDER o-1"},
       .arguments = {kType, kItem},
       .view = item_view()},
      list_items(),
      summary(),
      {.name = "cancel",
       .method = "DELETE",
       .path = "/api/v1/dispatch/{itemType}/{itemId}",
       .description = "Cancel an item that is still waiting; a slot that it has is free again.",
       .examples = {"penstock dispatch cancel ORDER o-1"},
       .arguments = {kType, kItem},
       .view = {.done = "cancelled {itemId}"}},
      {.name = "redrive",
       .method = "POST",
       .path = "/api/v1/dispatch/{itemType}/{itemId}/redrive",
       .description = "Try a dead item again: it is due at once, with no attempt used.",
       .examples = {"penstock dispatch redrive ORDER o-1"},
       .arguments = {kType, kItem},
       .view = item_view()}};
  return calls;
}

}  // namespace penstock::tool
