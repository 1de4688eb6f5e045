// Structured logs: an event name and fields, one line each; text on a terminal, JSON otherwise.
// Logged once, where the error is handled; no payloads, no secrets. Thread-safe.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>

#include "base/time.h"

namespace penstock {

enum class LogLevel : int { debug = 0, info = 1, warn = 2, error = 3, off = 4 };
enum class LogFormat { text, json };

struct LogField {
  LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
  LogField(std::string_view k, const std::string& v) : key(k), value(std::string_view(v)) {}
  LogField(std::string_view k, const char* v) : key(k), value(std::string_view(v)) {}
  LogField(std::string_view k, bool v) : key(k), value(v) {}
  LogField(std::string_view k, double v) : key(k), value(v) {}
  LogField(std::string_view k, Instant v) : key(k), value(v) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  LogField(std::string_view k, T v) : key(k), value(static_cast<std::int64_t>(v)) {}

  std::string_view key;
  std::variant<std::string_view, std::int64_t, double, bool, Instant> value;
};

class Log {
 public:
  // `clock` and the file descriptor must outlive the log.
  Log(const Clock& clock, int fd, LogLevel level, LogFormat format) noexcept
      : clock_(clock), fd_(fd), level_(level), format_(format) {}

  bool enabled(LogLevel level) const noexcept {
    return level >= level_.load(std::memory_order_relaxed);
  }
  void set_level(LogLevel level) noexcept { level_.store(level, std::memory_order_relaxed); }

  using Fields = std::initializer_list<LogField>;
  void debug(std::string_view event, Fields fields = {}) { write(LogLevel::debug, event, fields); }
  void info(std::string_view event, Fields fields = {}) { write(LogLevel::info, event, fields); }
  void warn(std::string_view event, Fields fields = {}) { write(LogLevel::warn, event, fields); }
  void error(std::string_view event, Fields fields = {}) { write(LogLevel::error, event, fields); }

  void write(LogLevel level, std::string_view event, Fields fields);

 private:
  const Clock& clock_;
  const int fd_;
  std::atomic<LogLevel> level_;
  const LogFormat format_;
  std::mutex
      mutex_;  // held for the write: a file that is not opened for appending has one position
};

// One line, newline included. Apart from Log so that tests need no file.
std::string format_log_line(LogFormat format, Instant at, LogLevel level, std::string_view event,
                            Log::Fields fields);

}  // namespace penstock
