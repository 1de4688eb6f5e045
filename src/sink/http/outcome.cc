#include "sink/http/outcome.h"

#include <optional>

#include "wire/retry_after.h"

namespace penstock::sink {

SinkAnswer judge_answer(int status, std::string_view retry_after, Instant now) {
  SinkAnswer answer{.detail = "HTTP " + std::to_string(status)};
  if (status >= 200 && status <= 299) {
    answer.outcome = SinkOutcome::done;
    return answer;
  }
  if (status == 429 || status == 503) {
    answer.pause = wire::parse_retry_after(retry_after, now);
    // A 503 alone is as likely a broken server as a busy one.
    const bool slow_down = status == 429 || answer.pause;
    answer.outcome = slow_down ? SinkOutcome::slow_down : SinkOutcome::failed;
    return answer;
  }
  const bool may_pass = status == 408 || status == 425;
  const bool refused = status >= 400 && status <= 499 && !may_pass;
  answer.outcome = refused ? SinkOutcome::refused : SinkOutcome::failed;
  if (status >= 300 && status <= 399) answer.detail += ", redirects are not followed";
  return answer;
}

}  // namespace penstock::sink
