// The provider for trying things out: writes each message to the log ("SMS Sent: 101: Hello") and
// calls it sent. Here the text is the point of the line, unlike in the log sink of other items.
// Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/log.h"
#include "base/result.h"
#include "sink/sink.h"

namespace penstock::service {

class SmsLogSink final : public sink::Sink {
 public:
  // What is to be shown of a context, which this room cannot read: wire::message_line.
  using Line = Result<std::string> (*)(std::string_view context);

  // `log` must outlive this.
  SmsLogSink(Log& log, Line line) : log_(log), line_(line) {}

  // Answers before it returns. A context without a message is refused: it never will have one.
  void send(sink::Handover&& item, Done done) override {
    const Result<std::string> line = line_(item.context);
    if (!line) {
      return done({.outcome = sink::SinkOutcome::refused,
                   .detail = "this item is no message: " + line.error().what});
    }
    log_.info("gateway.sms", {{"text", "SMS Sent: " + *line}, {"message_id", item.id.str()}});
    done({.outcome = sink::SinkOutcome::done, .detail = "logged"});
  }

 private:
  Log& log_;
  const Line line_;
};

}  // namespace penstock::service
