// What goes between a dispatcher, the store and a sink: the lease of a type, items that were
// claimed, what is handed over, what came of it. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "core/dispatch/item.h"

namespace penstock::core {

// What one dispatcher may do until somebody else has the lease: numbers grow from holder to holder.
using FencingToken = std::uint64_t;

struct Lease {
  FencingToken token = 0;
  bool fresh = false;      // another node may have held it since this one asked last
  Instant paused_until{};  // as the holder before left it when fresh, else as asked
};

struct ClaimedItem {
  ItemId id;
  Instant scheduled{};  // as it was asked for, or its slot's; a retry does not move it
  int retry_count = 0;
  int attempts = 0;  // this one included
  std::string context;
};

struct Claim {
  std::string batch_id;            // of this claim, for people
  std::vector<ClaimedItem> items;  // in the order of their time
  // Of the first item that was not claimed, when fewer than `limit` were; when `bytes` ended it,
  // that or earlier.
  std::optional<Instant> next_due;
};

struct Handover {
  ItemType type;
  ItemId id;
  Instant scheduled{};
  int attempt = 1;        // from 1, counted over everything
  int retry_count = 0;    // failed attempts since it was enqueued or redriven
  std::string context;    // JSON
  Millis start_delay{0};  // only for sinks that can start work later by themselves
  // It must be on its way within this time, or not at all: its turn in the pace has passed then.
  std::optional<Micros> patience = {};
};

enum class SinkOutcome : std::uint8_t {
  done,
  failed,     // may work another time
  refused,    // never will
  slow_down,  // not now; nothing is wrong with the item
  late,       // not sent, and nothing has happened: its patience had ended
};

struct SinkAnswer {
  SinkOutcome outcome = SinkOutcome::done;
  std::string detail;                   // for people: "HTTP 503", "connection refused"
  std::optional<Millis> pause = {};     // of slow_down: how long it asks for
  std::optional<Handover> unsent = {};  // of late: the item, for another turn
};

struct Settlement {
  ItemId id;
  std::string batch_id;  // of the claim, for the audit
  Outcome outcome = Outcome::done;
  std::string detail;  // the error, or what the sink said; at most store::kDetailBytesMax are kept
  // Of an item that goes back; its scheduled time stays. The epoch: it is due when scheduled.
  Instant not_before{};
};

}  // namespace penstock::core
