// What is set for all items of one type: how they are claimed, paced, retried, and where they go.
// Plain data; validated by check_item_type. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/dispatch/pace.h"

namespace penstock::core {

// The last stands for all that are compiled in from outside; its number leaves room for ours.
enum class SinkType : std::uint8_t { log, http, kafka, temporal, smpp, extension = 255 };

inline constexpr std::size_t kSinkOptionsBytesMax = 16 * 1024;  // people write them

// How an SMPP provider's receipts write the number by which its answers called a message: as these
// do, or in decimal where they are in hex, or the other way round.
enum class ReceiptIds : std::uint8_t { same, decimal, hex };
inline constexpr std::array<std::string_view, 3> kReceiptIds = {"same", "decimal", "hex"};

// A provider of text messages that speaks SMPP 3.4.
struct SmppSettings {
  std::string host;
  std::int64_t port = 2'775;  // the protocol's own
  std::string system_id;
  std::string password;
  std::string system_type;
  // What phones show as the sender; empty = what the provider has set.
  std::string source;
  std::optional<std::int64_t> source_ton;  // none = by the form of `source`
  std::optional<std::int64_t> source_npi;
  bool receipts = true;  // asks what became of each message
  ReceiptIds receipt_ids = ReceiptIds::same;

  friend bool operator==(const SmppSettings&, const SmppSettings&) = default;
};

struct SinkSettings {
  SinkType type = SinkType::log;
  // HTTP
  std::string url;
  // Each signs, so that keys can be changed: a receiver needs to know one of them. None = unsigned.
  std::vector<std::string> secrets;
  Millis timeout = Seconds{10};
  // HTTP, Temporal and SMPP: hand-overs under way at once; of SMPP, parts of messages.
  std::int64_t concurrency = 32;
  // Temporal
  std::string workflow_type;
  std::string task_queue;
  // Kafka
  std::string topic;
  // SMPP, with `timeout` and `concurrency`
  SmppSettings smpp;
  // Extension (sink/extension.h)
  std::string extension;  // its name
  std::string options;    // its own settings, a JSON object as it came; empty = none

  friend bool operator==(const SinkSettings&, const SinkSettings&) = default;
};

struct ItemTypeSettings {
  bool enabled = true;                       // the kill switch
  std::int64_t batch_size = 500;             // items in one claim
  Seconds dispatch_interval{5};              // at least this often it looks for items
  Millis jitter_window{4'000};               // items that want one instant are spread over it
  std::chrono::minutes pre_start_buffer{0};  // how early an item may be claimed
  int max_dispatch_retries = 5;              // failed attempts until an item is DEAD
  std::chrono::minutes stale_claim_threshold{2};
  std::optional<std::int64_t> max_per_second;  // none = no pace
  std::optional<std::int64_t> burst;           // none = a tenth of a second's worth
  // With five attempts an item outlives a sink that is down for a minute: 5 + 10 + 20 + 40 s.
  Millis retry_backoff{5'000};
  Millis retry_backoff_max = std::chrono::minutes{5};
  Seconds max_pause = std::chrono::minutes{5};  // a sink that says "slow down" is believed so long
  SinkSettings sink;

  friend bool operator==(const ItemTypeSettings&, const ItemTypeSettings&) = default;
};

inline std::optional<PaceLimit> pace_of(const ItemTypeSettings& settings) {
  if (!settings.max_per_second) return std::nullopt;
  return PaceLimit{.per_second = *settings.max_per_second,
                   .burst = settings.burst.value_or(default_burst(*settings.max_per_second))};
}

// Small letters, digits, '-' and '_', from a letter on, at most 64: what `type` may be beside the
// names of our own sinks.
bool is_extension_name(std::string_view name) noexcept;

// Refuses values out of range, naming the field as the API does.
Result<void> check_item_type(const ItemTypeSettings& settings);

}  // namespace penstock::core
