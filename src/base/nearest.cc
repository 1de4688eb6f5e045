#include "base/nearest.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace penstock {
namespace {

constexpr std::size_t kShownBytesMax = 80;

// Names are short; a hostile long key is compared by its head only.
constexpr std::size_t kComparedMax = 100;

bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }

std::string kebab(std::string_view name) {
  std::string out;
  char previous = '\0';
  for (const char c : name.substr(0, kComparedMax)) {
    if (is_upper(c)) {
      if (is_lower(previous)) out += '-';
      out += static_cast<char>(c - 'A' + 'a');
    } else {
      out += c == '_' ? '-' : c;
    }
    previous = c;
  }
  return out;
}

std::string_view last_part(std::string_view path) noexcept {
  return path.substr(path.rfind('.') + 1);  // npos + 1 is 0
}

std::string_view parent(std::string_view path) noexcept {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

template <class Distance>
std::string_view least(std::span<const std::string_view> candidates, Distance distance) {
  std::string_view best;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  for (const std::string_view candidate : candidates) {
    const std::size_t d = distance(candidate);
    if (d < best_distance) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::string from = kebab(a);
  const std::string to = kebab(b);
  // Three rows of the usual table: the swap of neighbours looks two rows back.
  std::vector<std::size_t> before(to.size() + 1);
  std::vector<std::size_t> last(to.size() + 1);
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t change = from[i - 1] == to[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[to.size()];
}

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates) {
  return least(candidates, [&](std::string_view c) { return edit_distance(name, c); });
}

std::string_view nearest_path(std::string_view path, std::span<const std::string_view> candidates) {
  return least(candidates, [&](std::string_view c) {
    const std::size_t elsewhere = parent(path) == parent(c) ? 0 : 1;
    return std::min(edit_distance(path, c),
                    edit_distance(last_part(path), last_part(c)) + elsewhere);
  });
}

std::string shown(std::string_view text) {
  std::string out = "\"";
  for (const char c : text.substr(0, kShownBytesMax)) {
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  if (text.size() > kShownBytesMax) out += "…";
  return out + "\"";
}

}  // namespace penstock
