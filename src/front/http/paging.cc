#include "front/http/paging.h"

#include <charconv>
#include <optional>
#include <utility>

#include "wire/percent.h"

namespace penstock::front {

Result<Page> page_of(const Request& request) {
  Page page;
  const Result<std::optional<std::string>> limit = request.query_param("limit");
  if (!limit) return std::unexpected(limit.error());
  if (*limit && !(*limit)->empty()) {
    const std::string& text = **limit;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), page.limit);
    if (error != std::errc{} || end != text.data() + text.size() || page.limit < 1 ||
        page.limit > kPageMax) {
      return invalid_field("limit", "must be from 1 to " + std::to_string(kPageMax));
    }
  }
  Result<std::optional<std::string>> after = request.query_param("after");
  if (!after) return std::unexpected(after.error());
  page.after = std::move(*after).value_or("");
  return page;
}

Header next_page_link(std::string_view path, std::size_t limit, std::string_view last) {
  const char* const join = path.find('?') == path.npos ? "?" : "&";
  std::string link = "<" + std::string(path) + join + "limit=" + std::to_string(limit) + "&after=";
  wire::append_percent_encoded(link, last);
  link += ">; rel=\"next\"";
  return {"Link", std::move(link)};
}

}  // namespace penstock::front
