#include "core/dispatch/item_type.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace penstock::core {
namespace {

struct Range {
  std::string_view field;
  std::int64_t value;
  std::int64_t min;
  std::int64_t max;
};

Result<void> check_range(const Range& range) {
  if (range.value >= range.min && range.value <= range.max) return {};
  return invalid_field(range.field, "must be from " + std::to_string(range.min) + " to " +
                                        std::to_string(range.max));
}

Result<void> check_text(std::string_view field, std::string_view text) {
  if (!text.empty() && text.size() <= 1'000) return {};
  return invalid_field(field, "must be a text of 1 to 1000 characters");
}

bool is_http_url(std::string_view url) {
  return url.starts_with("http://") || url.starts_with("https://");
}

Result<void> check_http(const SinkSettings& sink) {
  if (!is_http_url(sink.url) || sink.url.size() > 2'000) {
    return invalid_field("sink.url", "must be an http:// or https:// address");
  }
  if (sink.secrets.size() > 5) return invalid_field("sink.secrets", "must be at most 5");
  for (const std::string& secret : sink.secrets) {
    if (secret.size() < 16 || secret.size() > 512) {
      return invalid_field("sink.secrets", "must be texts of 16 to 512 characters");
    }
  }
  return check_range({"sink.timeoutMs", sink.timeout.count(), 1, 600'000});
}

// What the name and the options mean is for the extension itself to say.
Result<void> check_extension(const SinkSettings& sink) {
  if (!is_extension_name(sink.extension)) {
    return invalid_field("sink.type", "must be the name of a kind of sink");
  }
  if (sink.options.size() > kSinkOptionsBytesMax) {
    return invalid_field("sink.settings", "must be at most 16 KiB");
  }
  if (sink.secrets.size() > 5) return invalid_field("sink.secrets", "must be at most 5");
  for (const std::string& secret : sink.secrets) {
    if (secret.empty() || secret.size() > 512) {
      return invalid_field("sink.secrets", "must be texts of 1 to 512 characters");
    }
  }
  return check_range({"sink.timeoutMs", sink.timeout.count(), 1, 600'000});
}

// A field of SMPP: bytes without NUL, at most so many.
Result<void> check_c_string(std::string_view field, std::string_view text, std::size_t min,
                            std::size_t max) {
  const bool plain = std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7F; });
  if (plain && text.size() >= min && text.size() <= max) return {};
  return invalid_field(field, "must be " + std::to_string(min) + " to " + std::to_string(max) +
                                  " printable ASCII characters");
}

Result<void> check_smpp(const SinkSettings& sink) {
  const SmppSettings& smpp = sink.smpp;
  struct Text {
    std::string_view field;
    std::string_view text;
    std::size_t min;
    std::size_t max;
  };
  // The protocol's own bounds, but for the password: there are providers whose are longer than 8.
  const Text texts[] = {{"sink.host", smpp.host, 1, 255},
                        {"sink.systemId", smpp.system_id, 1, 15},
                        {"sink.password", smpp.password, 0, 64},
                        {"sink.systemType", smpp.system_type, 0, 12},
                        {"sink.source", smpp.source, 0, 20}};
  for (const Text& each : texts) {
    Result<void> checked = check_c_string(each.field, each.text, each.min, each.max);
    if (!checked) return checked;
  }
  const Range ranges[] = {{"sink.port", smpp.port, 1, 65'535},
                          {"sink.sourceTon", smpp.source_ton.value_or(0), 0, 6},
                          {"sink.sourceNpi", smpp.source_npi.value_or(0), 0, 18},
                          {"sink.timeoutMs", sink.timeout.count(), 1, 600'000}};
  for (const Range& range : ranges) {
    if (Result<void> checked = check_range(range); !checked) return checked;
  }
  return {};
}

Result<void> check_sink(const SinkSettings& sink) {
  Result<void> checked = check_range({"sink.concurrency", sink.concurrency, 1, 1'024});
  if (!checked) return checked;
  switch (sink.type) {
    case SinkType::log:
      return {};
    case SinkType::http:
      return check_http(sink);
    case SinkType::kafka:
      return check_text("sink.topic", sink.topic);
    case SinkType::smpp:
      return check_smpp(sink);
    case SinkType::temporal:
      checked = check_text("sink.workflowType", sink.workflow_type);
      return checked ? check_text("sink.taskQueue", sink.task_queue) : checked;
    case SinkType::extension:
      return check_extension(sink);
  }
  return {};
}

}  // namespace

bool is_extension_name(std::string_view name) noexcept {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto fits = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !name.empty() && name.size() <= 64 && is_letter(name.front()) &&
         std::ranges::all_of(name, fits);
}

Result<void> check_item_type(const ItemTypeSettings& settings) {
  const Range ranges[] = {
      {"batchSize", settings.batch_size, 1, 5'000},  // one claim stays under 100 ms
      {"dispatchIntervalSecs", settings.dispatch_interval.count(), 1, 3'600},
      {"jitterWindowMs", settings.jitter_window.count(), 0, 3'600'000},
      {"preStartBufferMins", settings.pre_start_buffer.count(), 0, 1'440},
      {"maxDispatchRetries", settings.max_dispatch_retries, 1, 1'000},
      {"staleClaimThresholdMins", settings.stale_claim_threshold.count(), 1, 1'440},
      {"maxPerSecond", settings.max_per_second.value_or(1), 1, kPerSecondMax},
      {"burst", settings.burst.value_or(1), 1, kPerSecondMax},
      {"retryBackoffMs", settings.retry_backoff.count(), 0, 86'400'000},
      {"retryBackoffMaxMs", settings.retry_backoff_max.count(), 0, 86'400'000},
      {"maxPauseSecs", settings.max_pause.count(), 1, 86'400},
  };
  for (const Range& range : ranges) {
    if (Result<void> checked = check_range(range); !checked) return checked;
  }
  if (settings.retry_backoff_max < settings.retry_backoff) {
    return invalid_field("retryBackoffMaxMs", "must not be less than retryBackoffMs");
  }
  return check_sink(settings.sink);
}

}  // namespace penstock::core
