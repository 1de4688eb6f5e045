#include "tool/import/batch_answer.h"

#include <fmt/format.h>

#include "engine/http/answer.h"
#include "wire/json.h"

namespace penstock::tool {
namespace {

using wire::JsonType;
using wire::JsonValue;

std::string text_member(JsonValue object, std::string_view name) {
  const JsonValue member = object.find(name);
  return member && member.type() == JsonType::string ? std::string(member.string()) : std::string();
}

std::string reason_of(JsonValue result, int status) {
  return fmt::format("{} {}: {}", status, text_member(result, "error"),
                     text_member(result, "message"));
}

int status_member(JsonValue result) {
  const JsonValue status = result.find("status");
  return status && status.type() == JsonType::number
             ? static_cast<int>(status.integer().value_or(0))
             : 0;
}

LineAnswer not_understood(JsonValue result) {
  return {.json = std::string(result.raw()),
          .reason = "the daemon's answer for this line is not understood"};
}

BatchVerdict read_results(const http::HttpAnswer& answer, std::size_t lines, ReadLine read_line) {
  const Result<wire::JsonDocument> document = wire::parse_json(answer.body);
  GiveUp somebody_else{"the answer is not that of a Penstock daemon; is --url right?"};
  if (!document || document->root().type() != JsonType::object) return somebody_else;
  const JsonValue results = document->root().find("results");
  if (!results || results.type() != JsonType::array || results.size() != lines) {
    return somebody_else;
  }
  Answered answered;
  answered.reserve(lines);
  for (JsonValue result = results.first(); result; result = result.next()) {
    answered.push_back(read_line(result));
  }
  return answered;
}

}  // namespace

LineAnswer read_slot_line(JsonValue result) {
  if (result.type() != JsonType::object) return not_understood(result);
  LineAnswer line{.json = std::string(result.raw()),
                  .scheduled_time = text_member(result, "scheduledTime")};
  if (!line.scheduled_time.empty()) {
    line.fate = LineFate::accepted;
    return line;
  }
  line.status = status_member(result);
  line.reason = reason_of(result, line.status);
  // A line that found no room within its delay is 503 too, but will find none a second later.
  line.again = result.find("retryAfterMs") && (line.status == 503 || line.status == 429);
  return line;
}

LineAnswer read_payment_line(JsonValue result) {
  if (result.type() != JsonType::object) return not_understood(result);
  LineAnswer line{.json = std::string(result.raw()),
                  .id = text_member(result, "paymentId"),
                  .scheduled_time = text_member(result, "scheduledTime")};
  const int status = status_member(result);
  if (status == 200 || status == 202) {
    line.fate = status == 200                            ? LineFate::known
                : text_member(result, "state") == "HELD" ? LineFate::held
                                                         : LineFate::accepted;
    return line;
  }
  line.status = status;
  line.reason = reason_of(result, status);
  if (status >= 400 && status < 500 && status != 408 && status != 429) {
    line.fate = LineFate::rejected;
  }
  // 500 is a defect of the daemon's that this line sets off: the next try would do it again.
  line.again = status == 408 || status == 429 || status == 503;
  return line;
}

BatchVerdict judge_answer(const http::HttpAnswer& answer, std::size_t lines, ReadLine read_line) {
  switch (answer.status) {
    case 200:
      return read_results(answer, lines, read_line);
    case 408:
    case 429:
    case 503:
      return SendAgain{answer.retry_after.value_or(Millis{0}), http::error_sentence(answer)};
    case 400:
    case 413:
      if (lines > 1) return SendHalves{http::error_sentence(answer)};
      return Answered{LineAnswer{.fate = LineFate::rejected,
                                 .json = answer.body,
                                 .status = answer.status,
                                 .reason = http::error_sentence(answer)}};
    default:
      // A proxy in front of the daemon may answer 502 or 504 while it restarts.
      if (answer.status >= 500) return SendAgain{Millis{0}, http::error_sentence(answer)};
      return GiveUp{http::error_sentence(answer)};
  }
}

}  // namespace penstock::tool
