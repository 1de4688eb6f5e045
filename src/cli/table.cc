#include "cli/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"

namespace penstock::cli {
namespace {

constexpr std::string_view kGap = "  ";

void append_cell(std::string& line, std::string_view text, std::size_t width, Align align) {
  const std::size_t used = text_columns(text);
  const std::size_t space = width > used ? width - used : 0;
  if (align == Align::right) line.append(space, ' ');
  line += text;
  if (align == Align::left) line.append(space, ' ');
}

}  // namespace

Table::Table(std::vector<Heading> headings) : headings_(std::move(headings)) {
  for (const Heading& heading : headings_) widths_.push_back(text_columns(heading.label));
}

std::string Table::header() const {
  Row labels;
  for (const Heading& heading : headings_) labels.emplace_back(heading.label);
  return line(labels);
}

void Table::fit(std::span<const Row> rows) {
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < std::min(row.size(), widths_.size()); ++i) {
      widths_[i] = std::max(widths_[i], text_columns(row[i]));
    }
  }
}

std::string Table::line(const Row& row) const {
  std::string out;
  for (std::size_t i = 0; i < widths_.size(); ++i) {
    if (i > 0) out += kGap;
    append_cell(out, i < row.size() ? row[i] : "", widths_[i], headings_[i].align);
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out + '\n';
}

std::string fact_lines(std::span<const Fact> facts) {
  std::size_t width = 0;
  for (const Fact& fact : facts) {
    if (!fact.value.empty()) width = std::max(width, text_columns(fact.label));
  }
  std::string out;
  for (const Fact& fact : facts) {
    if (fact.value.empty()) continue;
    append_cell(out, fact.label, width, Align::left);
    out.append(kGap).append(fact.value) += '\n';
  }
  return out;
}

std::size_t text_columns(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string one_line(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto byte = static_cast<unsigned char>(text.front());
    // U+0080 to U+009F are control characters, too, some of which terminals obey.
    const bool high_control =
        length == 2 && byte == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0;
    if (byte == '\n') {
      out += "\\n";
    } else if (length == 0 || byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else if (high_control) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[1]));
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

}  // namespace penstock::cli
