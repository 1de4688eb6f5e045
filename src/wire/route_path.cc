#include "wire/route_path.h"

#include <algorithm>
#include <cstddef>

#include "wire/percent.h"

namespace penstock::wire {
namespace {

// Characters that no URI has as they are (RFC 3986), and the `%` of nothing.
constexpr std::string_view kNeverPlain = "%|\"<>\\^`{}";

// `http://host/path` -> `/path`
std::string_view path_of(std::string_view target) noexcept {
  target = target.substr(0, target.find_first_of("?#"));
  const std::size_t scheme = target.find("://");
  if (scheme != target.npos && target.substr(0, scheme).find('/') == target.npos) {
    target.remove_prefix(scheme + 3);
    const std::size_t slash = target.find('/');
    target = slash == target.npos ? std::string_view{} : target.substr(slash);
  }
  return target;
}

// One segment, its characters in their one spelling.
void append_segment(std::string& out, std::string_view segment) {
  while (!segment.empty()) {
    const auto byte = static_cast<unsigned char>(segment.front());
    const int high = segment.size() > 2 ? hex_digit(segment[1]) : -1;
    const int low = segment.size() > 2 ? hex_digit(segment[2]) : -1;
    if (byte == '%' && high >= 0 && low >= 0) {
      const auto meant = static_cast<char>(high * 16 + low);
      append_percent_encoded(out, {&meant, 1});
      segment.remove_prefix(3);
      continue;
    }
    if (byte <= ' ' || byte >= 0x7f || kNeverPlain.find(segment.front()) != kNeverPlain.npos) {
      append_percent_byte(out, segment.front());
    } else {
      out += segment.front();
    }
    segment.remove_prefix(1);
  }
}

}  // namespace

void append_route_path(std::string& out, std::string_view target) {
  const std::size_t start = out.size();
  std::string_view rest = path_of(target);
  bool directory = true;  // the path ends in a slash so far
  while (!rest.empty()) {
    const std::size_t slash = rest.find('/');
    const std::string_view raw = rest.substr(0, slash);
    const bool last = slash == rest.npos;
    rest = last ? std::string_view{} : rest.substr(slash + 1);
    if (raw.empty()) {
      directory = true;
      continue;
    }
    const std::size_t before = out.size();
    out += '/';
    append_segment(out, raw);
    const std::string_view segment = std::string_view(out).substr(before + 1);
    directory = !last;
    if (segment != "." && segment != "..") continue;
    const bool up = segment == "..";
    out.resize(before);
    directory = true;
    if (up && out.size() > start) out.resize(std::max(out.rfind('/'), start));
  }
  if (directory) out += '/';
}

}  // namespace penstock::wire
