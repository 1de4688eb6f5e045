#include "wire/http/message.h"

#include "base/ascii.h"
#include "wire/percent.h"

namespace penstock::wire {

std::string_view to_string(Method method) noexcept {
  switch (method) {
    case Method::get:
      return "GET";
    case Method::head:
      return "HEAD";
    case Method::post:
      return "POST";
    case Method::put:
      return "PUT";
    case Method::patch:
      return "PATCH";
    case Method::del:
      return "DELETE";
    case Method::options:
      return "OPTIONS";
    case Method::other:
      break;
  }
  return "OTHER";
}

std::string_view Request::header(std::string_view name) const noexcept {
  for (const auto& [key, value] : headers) {
    if (ascii_equal(key, name)) return value;
  }
  return {};
}

Result<std::optional<std::string>> Request::query_param(std::string_view name) const {
  std::string_view rest = query;
  while (!rest.empty()) {
    const std::size_t end = rest.find('&');
    const std::string_view pair = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view{} : rest.substr(end + 1);
    const std::size_t equals = pair.find('=');
    if (pair.substr(0, equals) != name) continue;
    std::string value;
    if (equals != pair.npos && !wire::percent_decode(pair.substr(equals + 1), value)) {
      return invalid_field(name, "is not well percent-encoded");
    }
    return value;
  }
  return std::nullopt;
}

}  // namespace penstock::wire
