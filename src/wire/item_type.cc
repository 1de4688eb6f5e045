#include "wire/item_type.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "wire/http_url.h"
#include "wire/json_fields.h"

namespace penstock::wire {
namespace {

using core::SinkType;

constexpr std::array<std::string_view, 5> kSinkNames = {"log", "http", "kafka", "temporal", "smpp"};

std::string_view sink_name(const core::SinkSettings& sink) {
  if (sink.type == SinkType::extension) return sink.extension;
  return kSinkNames[static_cast<std::size_t>(sink.type)];
}

std::optional<SinkType> sink_type_of(std::string_view name) {
  for (std::size_t i = 0; i < kSinkNames.size(); ++i) {
    if (kSinkNames[i] == name) return static_cast<SinkType>(i);
  }
  return std::nullopt;
}

template <class Duration>
void take_duration(JsonFields& fields, std::string_view name, Duration& into) {
  // Beyond the largest that any field allows: the range check names the field.
  constexpr std::int64_t kMost = 1'000'000'000;
  if (const auto value = fields.optional_integer(name)) {
    into = Duration{std::clamp<std::int64_t>(*value, -kMost, kMost)};
  }
}

void take_integer(JsonFields& fields, std::string_view name, std::int64_t& into) {
  if (const auto value = fields.optional_integer(name)) into = *value;
}

void take_text(JsonFields& fields, std::string_view name, std::string& into) {
  if (const auto value = fields.optional_string(name)) into = *value;
}

// Null takes the value away; absent leaves it.
void take_removable(JsonFields& fields, JsonValue object, std::string_view name,
                    std::optional<std::int64_t>& into) {
  if (object.type() == JsonType::object && object.find(name)) into = fields.optional_integer(name);
}

void take_secrets(JsonFields& fields, std::vector<std::string>& into) {
  const std::optional<JsonValue> array = fields.optional_array("secrets");
  if (!array) return;
  std::vector<std::string> secrets;
  for (JsonValue each = array->first(); each; each = each.next()) {
    if (each.type() != JsonType::string) {
      return fields.problem("secrets", "must be an array of strings");
    }
    secrets.emplace_back(each.string());
  }
  into = std::move(secrets);
}

// Of another kind it starts from the defaults.
void take_sink_type(JsonFields& fields, core::SinkSettings& sink) {
  const std::optional<std::string_view> name = fields.optional_string("type");
  if (!name || *name == sink_name(sink)) return;
  if (const std::optional<SinkType> type = sink_type_of(*name)) {
    sink = {.type = *type};
  } else if (core::is_extension_name(*name)) {
    // Whether there is one of that name is known where sinks are made.
    sink = {.type = SinkType::extension};
    sink.extension = *name;
  } else {
    fields.problem("type", "must be log, http, kafka, temporal, smpp or the name of an extension");
  }
}

void take_smpp(JsonFields& fields, JsonValue object, core::SmppSettings& smpp) {
  take_text(fields, "host", smpp.host);
  take_integer(fields, "port", smpp.port);
  take_text(fields, "systemId", smpp.system_id);
  take_text(fields, "password", smpp.password);
  take_text(fields, "systemType", smpp.system_type);
  take_text(fields, "source", smpp.source);
  take_removable(fields, object, "sourceTon", smpp.source_ton);
  take_removable(fields, object, "sourceNpi", smpp.source_npi);
  if (const auto receipts = fields.optional_boolean("receipts")) smpp.receipts = *receipts;
  if (const auto name = fields.optional_string("receiptIds")) {
    const auto found = std::ranges::find(core::kReceiptIds, *name);
    if (found == core::kReceiptIds.end()) {
      return fields.problem("receiptIds", "must be same, decimal or hex");
    }
    smpp.receipt_ids = static_cast<core::ReceiptIds>(found - core::kReceiptIds.begin());
  }
}

// Whether two settings of one kind send to the same place. What the settings of an extension mean
// is its own matter, so any change of them may be another place.
bool same_place(const core::SinkSettings& a, const core::SinkSettings& b) {
  return a.url == b.url && a.smpp.host == b.smpp.host && a.smpp.port == b.smpp.port &&
         a.options == b.options;
}

// Secrets are meant for the place they were given for. A call that names another place and does not
// bring them leaves none: otherwise whoever may change a URL could have them sent to himself.
void drop_stale_secrets(JsonValue value, const core::SinkSettings& before,
                        core::SinkSettings& sink) {
  if (value.type() != JsonType::object) return;
  const bool moved = !same_place(before, sink);
  const auto drop = [&](std::string_view name, auto& secret) {
    const JsonValue sent = value.find(name);
    // Null takes a secret away, wherever the sink points.
    if (sent ? sent.is_null() : moved) secret.clear();
  };
  drop("secrets", sink.secrets);
  drop("password", sink.smpp.password);
}

Result<core::SinkSettings> decode_sink(JsonValue value, const core::SinkSettings& base) {
  JsonFields fields(value);
  core::SinkSettings sink = base;
  take_sink_type(fields, sink);
  const core::SinkSettings before = sink;
  take_text(fields, "url", sink.url);
  take_secrets(fields, sink.secrets);
  take_duration(fields, "timeoutMs", sink.timeout);
  take_integer(fields, "concurrency", sink.concurrency);
  take_text(fields, "workflowType", sink.workflow_type);
  take_text(fields, "taskQueue", sink.task_queue);
  take_text(fields, "topic", sink.topic);
  // What another kind has is looked at all the same, and forgotten: a mistake is a mistake.
  core::SmppSettings of_another;
  take_smpp(fields, value, sink.type == SinkType::smpp ? sink.smpp : of_another);
  const std::optional<JsonValue> options = fields.optional_object("settings");
  if (options && sink.type == SinkType::extension) sink.options = options->raw();
  drop_stale_secrets(value, before, sink);
  if (!fields.error()) return sink;
  Error error = *fields.error();
  if (!error.field.empty()) {
    error.what = "sink." + error.what;
    error.field = "sink." + error.field;
  }
  return std::unexpected(std::move(error));
}

// What core cannot know: whether a URL and its secrets can be used as they are written.
Result<void> check_spelling(const core::SinkSettings& sink) {
  if (sink.type != SinkType::http) return {};
  if (const auto url = parse_http_url(sink.url); !url) {
    return invalid_field("sink.url", url.error().what);
  }
  for (const std::string& secret : sink.secrets) {
    if (const auto key = parse_webhook_secret(secret); !key) {
      return invalid_field("sink.secrets", key.error().what);
    }
  }
  return {};
}

void encode_secrets(JsonWriter& out, const core::SinkSettings& sink, Secrets secrets) {
  out.key("secrets");
  if (secrets == Secrets::counted) {
    out.value(static_cast<std::int64_t>(sink.secrets.size()));
    return;
  }
  out.begin_array();
  for (const std::string& secret : sink.secrets) out.value(secret);
  out.end_array();
}

void encode_optional(JsonWriter& out, std::string_view name,
                     const std::optional<std::int64_t>& value) {
  out.key(name);
  value ? out.value(*value) : out.null();
}

// The password is shown to the store alone.
void encode_smpp(JsonWriter& out, const core::SmppSettings& smpp, Secrets secrets) {
  out.member("host", smpp.host).member("port", smpp.port).member("systemId", smpp.system_id);
  if (secrets == Secrets::shown) {
    out.member("password", smpp.password);
  } else {
    out.member("hasPassword", !smpp.password.empty());
  }
  out.member("systemType", smpp.system_type).member("source", smpp.source);
  encode_optional(out, "sourceTon", smpp.source_ton);
  encode_optional(out, "sourceNpi", smpp.source_npi);
  out.member("receipts", smpp.receipts)
      .member("receiptIds", core::kReceiptIds[static_cast<std::size_t>(smpp.receipt_ids)]);
}

void encode_sink(JsonWriter& out, const core::SinkSettings& sink, Secrets secrets) {
  const bool extension = sink.type == SinkType::extension;
  out.begin_object().member("type", sink_name(sink));
  if (sink.type == SinkType::http) out.member("url", sink.url);
  if (extension) out.key("settings").raw(sink.options.empty() ? "{}" : sink.options);
  if (sink.type == SinkType::http || extension) {
    encode_secrets(out, sink, secrets);
    out.member("timeoutMs", sink.timeout.count());
  }
  if (sink.type == SinkType::temporal) {
    out.member("workflowType", sink.workflow_type).member("taskQueue", sink.task_queue);
  }
  if (sink.type == SinkType::smpp) {
    encode_smpp(out, sink.smpp, secrets);
    out.member("timeoutMs", sink.timeout.count());
  }
  if (sink.type == SinkType::http || sink.type == SinkType::temporal ||
      sink.type == SinkType::smpp || extension) {
    out.member("concurrency", sink.concurrency);
  }
  if (sink.type == SinkType::kafka) out.member("topic", sink.topic);
  out.end_object();
}

}  // namespace

Result<core::ItemTypeSettings> decode_item_type(JsonValue value,
                                                const core::ItemTypeSettings& base) {
  JsonFields fields(value);
  core::ItemTypeSettings settings = base;
  if (const auto enabled = fields.optional_boolean("enabled")) settings.enabled = *enabled;
  take_integer(fields, "batchSize", settings.batch_size);
  take_duration(fields, "dispatchIntervalSecs", settings.dispatch_interval);
  take_duration(fields, "jitterWindowMs", settings.jitter_window);
  take_duration(fields, "preStartBufferMins", settings.pre_start_buffer);
  std::int64_t retries = settings.max_dispatch_retries;
  take_integer(fields, "maxDispatchRetries", retries);
  settings.max_dispatch_retries =
      static_cast<int>(std::clamp<std::int64_t>(retries, -1, std::numeric_limits<int>::max()));
  take_duration(fields, "staleClaimThresholdMins", settings.stale_claim_threshold);
  take_removable(fields, value, "maxPerSecond", settings.max_per_second);
  take_removable(fields, value, "burst", settings.burst);
  take_duration(fields, "retryBackoffMs", settings.retry_backoff);
  take_duration(fields, "retryBackoffMaxMs", settings.retry_backoff_max);
  take_duration(fields, "maxPauseSecs", settings.max_pause);
  const std::optional<JsonValue> sink = fields.optional_object("sink");
  if (fields.error()) return std::unexpected(*fields.error());
  if (sink) {
    Result<core::SinkSettings> decoded = decode_sink(*sink, base.sink);
    if (!decoded) return std::unexpected(std::move(decoded.error()));
    settings.sink = std::move(*decoded);
  }
  if (Result<void> checked = core::check_item_type(settings); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  if (Result<void> checked = check_spelling(settings.sink); !checked) {
    return std::unexpected(std::move(checked.error()));
  }
  return settings;
}

void encode_item_type_members(JsonWriter& out, const core::ItemTypeSettings& settings,
                              Secrets secrets) {
  out.member("enabled", settings.enabled)
      .member("batchSize", settings.batch_size)
      .member("dispatchIntervalSecs", settings.dispatch_interval.count())
      .member("jitterWindowMs", settings.jitter_window.count())
      .member("preStartBufferMins", static_cast<std::int64_t>(settings.pre_start_buffer.count()))
      .member("maxDispatchRetries", settings.max_dispatch_retries)
      .member("staleClaimThresholdMins",
              static_cast<std::int64_t>(settings.stale_claim_threshold.count()));
  encode_optional(out, "maxPerSecond", settings.max_per_second);
  encode_optional(out, "burst", settings.burst);
  out.member("retryBackoffMs", settings.retry_backoff.count())
      .member("retryBackoffMaxMs", settings.retry_backoff_max.count())
      .member("maxPauseSecs", settings.max_pause.count())
      .key("sink");
  encode_sink(out, settings.sink, secrets);
}

}  // namespace penstock::wire
