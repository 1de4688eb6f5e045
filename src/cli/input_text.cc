#include "cli/input_text.h"

#include <fmt/format.h>

#include <fstream>
#include <iostream>

#include "base/iso8601.h"

namespace penstock::cli {

Result<std::string> read_whole(const std::string& path, std::size_t bytes_max) {
  const std::string name = path == "-" ? "standard input" : path;
  std::ifstream file;
  if (path != "-") {
    file.open(path, std::ios::binary);
    if (!file) return fail(ErrorKind::invalid, "cannot read " + name);
  }
  std::istream& in = path == "-" ? std::cin : file;
  std::string text;
  constexpr std::size_t kPiece = 64 * 1024;
  for (bool more = true; more && text.size() <= bytes_max;) {
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    in.read(text.data() + before, kPiece);
    text.resize(before + static_cast<std::size_t>(in.gcount()));
    more = in.good();
  }
  if (in.bad()) return fail(ErrorKind::invalid, "cannot read " + name);
  if (text.size() > bytes_max) {
    return fail(ErrorKind::invalid, fmt::format("{} is larger than {} MiB", name, bytes_max >> 20));
  }
  return text;
}

Result<std::string> text_argument(const std::string& text, std::size_t bytes_max) {
  if (text == "-") return read_whole(text, bytes_max);
  if (text.starts_with('@')) return read_whole(text.substr(1), bytes_max);
  return text;
}

Result<Instant> parse_time_argument(std::string_view text, Instant now) {
  if (text == "now") return cut_to_millis(now);
  if (text.starts_with("now+") || text.starts_with("now-")) {
    const Result<Millis> distance = parse_duration(text.substr(4));
    if (!distance) return std::unexpected(distance.error());
    const Instant at = cut_to_millis(now) + (text[3] == '+' ? *distance : -*distance);
    if (at < kInstantMin || at >= kInstantEnd) {
      return fail(ErrorKind::invalid, "must be in the years 1970 to 2261");
    }
    return at;
  }
  if (const Result<Instant> instant = parse_instant(text)) return *instant;
  return fail(ErrorKind::invalid,
              "must be a time such as 2025-06-01T12:00:00Z, now, now+PT1H or now-P1D");
}

}  // namespace penstock::cli
