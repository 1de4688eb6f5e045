#include "app/import/batch_answer.h"

#include <fmt/format.h>

#include "app/client/answer.h"
#include "wire/json.h"

namespace penstock::app {
namespace {

using wire::JsonType;
using wire::JsonValue;

std::string text_member(JsonValue object, std::string_view name) {
  const JsonValue member = object.find(name);
  return member && member.type() == JsonType::string ? std::string(member.string()) : std::string();
}

LineAnswer read_line_answer(JsonValue result) {
  LineAnswer line{.json = std::string(result.raw())};
  if (result.type() != JsonType::object) {
    line.reason = "the daemon's answer for this line is not understood";
    return line;
  }
  line.scheduled_time = text_member(result, "scheduledTime");
  line.assigned = !line.scheduled_time.empty();
  if (line.assigned) return line;
  const JsonValue status = result.find("status");
  line.status = status ? static_cast<int>(status.integer().value_or(0)) : 0;
  line.reason = fmt::format("{} {}: {}", line.status, text_member(result, "error"),
                            text_member(result, "message"));
  // A line that found no room within its delay is 503 too, but will find none a second later.
  line.again = result.find("retryAfterMs") && (line.status == 503 || line.status == 429);
  return line;
}

BatchVerdict read_results(const HttpAnswer& answer, std::size_t lines) {
  const Result<wire::JsonDocument> document = wire::parse_json(answer.body);
  GiveUp not_understood{"the answer is not that of a Penstock daemon; is --url right?"};
  if (!document || document->root().type() != JsonType::object) return not_understood;
  const JsonValue results = document->root().find("results");
  if (!results || results.type() != JsonType::array || results.size() != lines) {
    return not_understood;
  }
  Answered answered;
  answered.reserve(lines);
  for (JsonValue result = results.first(); result; result = result.next()) {
    answered.push_back(read_line_answer(result));
  }
  return answered;
}

}  // namespace

BatchVerdict judge_answer(const HttpAnswer& answer, std::size_t lines) {
  switch (answer.status) {
    case 200:
      return read_results(answer, lines);
    case 408:
    case 429:
    case 503:
      return SendAgain{answer.retry_after.value_or(Millis{0}), error_sentence(answer)};
    case 400:
    case 413:
      if (lines > 1) return SendHalves{error_sentence(answer)};
      return Answered{LineAnswer{
          .json = answer.body, .status = answer.status, .reason = error_sentence(answer)}};
    default:
      // A proxy in front of the daemon may answer 502 or 504 while it restarts.
      if (answer.status >= 500) return SendAgain{Millis{0}, error_sentence(answer)};
      return GiveUp{error_sentence(answer)};
  }
}

}  // namespace penstock::app
