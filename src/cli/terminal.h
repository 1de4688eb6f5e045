// The terminal of a person: a line that is written anew, a screen that is drawn, Ctrl-C.
#pragma once

#include <atomic>
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

// Ctrl-C (or SIGTERM) as a flag, so that a long command ends in order. While an object lives the
// first signal only sets the flag; a second one ends the process. One object at a time.
class Interrupt {
 public:
  Interrupt() noexcept;
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  bool happened() const noexcept { return flag().load(); }
  const std::atomic<bool>& flag() const noexcept;  // lives as long as the process
};

// The whole terminal: alternate screen, no cursor, keys at once and unechoed. All is put back when
// the object goes. One at a time; one thread.
struct ScreenSize {
  std::size_t width = 80;
  std::size_t height = 24;
  friend bool operator==(const ScreenSize&, const ScreenSize&) = default;
};

class Screen {
 public:
  // Whether standard input and output are a terminal to draw on.
  static bool possible() noexcept;
  static bool has_colors() noexcept;  // NO_COLOR is not set, and TERM is not dumb

  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  ScreenSize size() const noexcept;
  // From the top, in one write, so that it does not flicker. Lines are parted by kLineEnd; the last
  // one has none, which would scroll.
  void draw(const std::string& lines) const;
  static constexpr const char* kLineEnd = "\x1b[K\r\n";
  // A key that was pressed within `millis`; 0 = none. The input ended, or a signal came: none too.
  char key(int millis) const;
};

}  // namespace penstock::cli
