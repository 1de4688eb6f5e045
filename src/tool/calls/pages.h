// Shows a list that comes in pages, one page in memory at a time: as one table, or as one JSON
// value. Total; writes where it is told. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cli/table.h"
#include "tool/calls/call.h"
#include "wire/json.h"

namespace penstock::tool {

class PagePrinter {
 public:
  // `limit` is how many rows are shown at most.
  PagePrinter(const View& view, bool json, std::uint64_t limit, Instant now,
              std::function<void(const std::string&)> print);

  // `more`: another page follows if rows are still wanted.
  void page(wire::JsonValue answer, bool more);
  // What is to come may still be shown.
  bool wants_more() const noexcept { return shown_ < limit_; }
  // Ends what was begun; after the last page, or when the next one could not be had.
  void end();
  // Rows were held back, or a page was not asked for.
  bool left_some() const noexcept { return left_some_; }

 private:
  void page_as_json(wire::JsonValue answer, wire::JsonValue rows);
  void page_as_table(wire::JsonValue answer, wire::JsonValue rows);

  const View& view_;
  const bool json_;
  const std::uint64_t limit_;
  const Instant now_;
  const std::function<void(const std::string&)> print_;
  cli::Table table_;
  std::uint64_t shown_ = 0;
  bool begun_ = false;
  bool left_some_ = false;
};

}  // namespace penstock::tool
