// The whole terminal: alternate screen, no cursor, keys at once and unechoed. All is put back when
// the object goes. One at a time; one thread.
#pragma once

#include <cstddef>
#include <string>

namespace penstock::cli {

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
