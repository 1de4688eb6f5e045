// What people typed, in messages to them: shown safely, with the name they probably meant. Pure;
// safe on any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace penstock {

// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`; letter case,
// `_` for `-` and camelCase count as equal, since those are the usual slips.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Candidate with the least distance, the first of equals; empty when there is no candidate.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates);

// The same for dotted paths: a right last part under another section is near, too.
std::string_view nearest_path(std::string_view path, std::span<const std::string_view> candidates);

// A value as a message shows it: in quotes, on one line, bounded.
std::string shown(std::string_view text);

}  // namespace penstock
