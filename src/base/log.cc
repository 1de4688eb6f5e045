#include "base/log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <iterator>

#include "base/iso8601.h"

namespace penstock {
namespace {

std::string_view level_name(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warn:
      return "warn";
    case LogLevel::error:
    case LogLevel::off:
      return "error";
  }
  return "error";
}

// Quoted and escaped so that one event stays one line and hostile text cannot forge another. Bytes
// above 0x7f pass: both JSON readers and terminals take UTF-8, and log readers survive what is not.
void append_quoted(std::string& out, std::string_view text) {
  constexpr std::size_t kValueBytesMax = 2'048;  // a line stays readable whatever a peer sends
  out += '"';
  for (const char c : text.substr(0, kValueBytesMax)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  out += '"';
}

bool is_bare(std::string_view text) noexcept {
  if (text.empty() || text.size() > 256) return false;
  for (const char c : text) {
    if (c <= ' ' || c >= 0x7f || c == '"' || c == '=' || c == '\\') return false;
  }
  return true;
}

void append_value(std::string& out, LogFormat format, const LogField& field) {
  if (const auto* text = std::get_if<std::string_view>(&field.value)) {
    if (format == LogFormat::text && is_bare(*text)) {
      out += *text;
    } else {
      append_quoted(out, *text);
    }
  } else if (const auto* number = std::get_if<std::int64_t>(&field.value)) {
    fmt::format_to(std::back_inserter(out), "{}", *number);
  } else if (const auto* real = std::get_if<double>(&field.value)) {
    // JSON has no number for nan and inf.
    const bool quoted = format == LogFormat::json && !std::isfinite(*real);
    if (quoted) out += '"';
    fmt::format_to(std::back_inserter(out), "{:.6g}", *real);
    if (quoted) out += '"';
  } else if (const auto* truth = std::get_if<bool>(&field.value)) {
    out += *truth ? "true" : "false";
  } else {
    const bool json = format == LogFormat::json;
    if (json) out += '"';
    append_instant(out, std::get<Instant>(field.value));
    if (json) out += '"';
  }
}

}  // namespace

std::string format_log_line(LogFormat format, Instant at, LogLevel level, std::string_view event,
                            Log::Fields fields) {
  std::string line;
  line.reserve(192);
  if (format == LogFormat::json) {
    line += R"({"time":")";
    append_instant(line, at);
    line += R"(","level":")";
    line += level_name(level);
    line += R"(","event":)";
    append_quoted(line, event);
    for (const LogField& field : fields) {
      line += ',';
      append_quoted(line, field.key);
      line += ':';
      append_value(line, format, field);
    }
    line += "}\n";
    return line;
  }
  append_instant(line, at);
  fmt::format_to(std::back_inserter(line), " {:<5} {}", level_name(level), event);
  for (const LogField& field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    append_value(line, format, field);
  }
  line += '\n';
  return line;
}

void Log::write(LogLevel level, std::string_view event, Fields fields) {
  if (!enabled(level)) return;
  const std::string line = format_log_line(format_, clock_.now(), level, event, fields);
  const std::lock_guard lock(mutex_);
  // One write per line: lines of several processes do not mix. A log that cannot be written is not
  // worth dying for, so the result is looked at and dropped.
  if (::write(fd_, line.data(), line.size()) < 0) return;
}

}  // namespace penstock
