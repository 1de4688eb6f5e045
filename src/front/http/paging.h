// Lists in pages: `?limit=&after=` in, a Link header out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "front/http/http.h"

namespace penstock::front {

inline constexpr std::size_t kPageDefault = 100;
inline constexpr std::size_t kPageMax = 1'000;  // under a megabyte of JSON

struct Page {
  std::size_t limit = kPageDefault;
  std::string after;  // empty = from the start
};

Result<Page> page_of(const Request& request);

// `Link: </path?limit=…&after=…>; rel="next"`: where the page behind the entry `last` is.
Header next_page_link(std::string_view path, std::size_t limit, std::string_view last);

}  // namespace penstock::front
