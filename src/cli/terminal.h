// A line on standard error that is rewritten in place, on a terminal; silent elsewhere. One thread
// at a time.
#pragma once

#include <cstddef>
#include <string>

#include "runtime/clocks.h"

namespace penstock::cli {

class StatusLine {
 public:
  StatusLine();

  // Columns that a line may have.
  std::size_t width() const;
  // Whether show() would do anything just now: it rewrites a few times a second.
  bool due() const;
  void show(const std::string& line);
  void clear() const;
  double seconds() const { return watch_.seconds(); }  // since it was made

 private:
  const bool on_terminal_;
  const runtime::Stopwatch watch_;
  double shown_at_ = -1;
};

}  // namespace penstock::cli
