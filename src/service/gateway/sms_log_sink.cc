#include "service/gateway/sms_log_sink.h"

namespace penstock::service {

void SmsLogSink::send(sink::Handover&& item, Done done) {
  const Result<std::string> line = line_(item.context);
  if (!line) {
    return done({.outcome = sink::SinkOutcome::refused,
                 .detail = "this item is no message: " + line.error().what});
  }
  log_.info("gateway.sms", {{"text", "SMS Sent: " + *line}, {"message_id", item.id.str()}});
  done({.outcome = sink::SinkOutcome::done, .detail = "logged"});
}

}  // namespace penstock::service
