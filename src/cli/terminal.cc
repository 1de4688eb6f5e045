#include "cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

namespace penstock::cli {
namespace {

constexpr double kEverySeconds = 0.2;

}  // namespace

StatusLine::StatusLine() : on_terminal_(::isatty(STDERR_FILENO) == 1) {}

std::size_t StatusLine::width() const {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 79;
  return size.ws_col - 1U;
}

bool StatusLine::due() const {
  return on_terminal_ && watch_.seconds() - shown_at_ >= kEverySeconds;
}

void StatusLine::show(const std::string& line) {
  if (!due()) return;
  shown_at_ = watch_.seconds();
  fmt::print(stderr, "\r{}\x1b[K", line);
}

void StatusLine::clear() const {
  if (on_terminal_) fmt::print(stderr, "\r\x1b[K");
}

}  // namespace penstock::cli
