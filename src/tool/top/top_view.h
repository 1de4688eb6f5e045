// What `penstock top` shows: state in, lines out. Pure; safe on any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tool/top/top_state.h"

namespace penstock::tool {

enum class Tone : std::uint8_t { plain, title, heading, dim, bad };

struct ViewLine {
  std::string text;  // at most as wide as was asked for, no control characters
  Tone tone = Tone::plain;
};

struct ViewSize {
  std::size_t width = 80;
  std::size_t height = 24;  // 0 = as many lines as there are
};

// At most `height` lines: what matters less is left out first. `where` names the daemon.
std::vector<ViewLine> top_view(const TopState& state, const std::string& where, ViewSize size);

// The same as one object.
std::string top_json(const TopState& state, const std::string& where);

// A bar of eighths for each value, the largest the highest; the newest `width` of them.
std::string sparkline(const std::vector<double>& values, std::size_t width);

// Columns that a text takes on a terminal; ours are ASCII and single-width.
std::size_t columns_of(std::string_view text) noexcept;

}  // namespace penstock::tool
