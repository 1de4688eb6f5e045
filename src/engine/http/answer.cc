#include "engine/http/answer.h"

#include <fmt/format.h>

#include "wire/json.h"

namespace penstock::http {

std::string error_sentence(const HttpAnswer& answer) {
  std::string reason;
  std::string message;
  if (const Result<wire::JsonDocument> body = wire::parse_json(answer.body);
      body && body->root().type() == wire::JsonType::object) {
    for (const auto& [name, into] : {std::pair{"error", &reason}, std::pair{"message", &message}}) {
      const wire::JsonValue member = body->root().find(name);
      if (member && member.type() == wire::JsonType::string) *into = member.string();
    }
  }
  std::string sentence = fmt::format("{}", answer.status);
  if (!reason.empty()) sentence += " " + reason;
  if (!message.empty()) sentence += ": " + message;
  if (answer.status == 401) sentence += " (give the token by --token-file or PENSTOCK_TOKEN)";
  return sentence;
}

}  // namespace penstock::http
