#include "sink/log/log_sink.h"

#include <memory>

namespace penstock::sink {

LogSink::LogSink(Log& log, Millis interval)
    : log_(log), ticker_("sink-log", interval, [this](const auto&) { sum_up(); }) {}

LogSink::~LogSink() {
  ticker_.stop();
  sum_up();
}

void LogSink::send(Handover&& item, Done done) {
  if (handovers_.fetch_add(1, std::memory_order_relaxed) < kLinesPerSecond) {
    log_.info("sink.handover", {{"item_type", item.type.str()},
                                {"item_id", item.id.str()},
                                {"scheduled", item.scheduled},
                                {"attempt", item.attempt},
                                {"context_bytes", item.context.size()}});
  }
  done({.outcome = SinkOutcome::done, .detail = "logged"});
}

void LogSink::sum_up() {
  const std::uint64_t handovers = handovers_.exchange(0, std::memory_order_relaxed);
  if (handovers <= kLinesPerSecond) return;
  log_.info("sink.more_handovers", {{"and_more", handovers - kLinesPerSecond}});
}

SinkKind log_kind(Log* log) {
  return kind_of<LogSettings>(
      "log", [log](const LogSettings&) { return std::make_unique<LogSink>(*log); });
}

}  // namespace penstock::sink
