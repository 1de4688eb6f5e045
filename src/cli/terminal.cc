#include "cli/terminal.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

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

namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // all that a signal handler may touch

void set_handler(void (*handler)(int)) noexcept {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

Interrupt::Interrupt() noexcept {
  interrupted = false;
  set_handler([](int) { interrupted = true; });
}

Interrupt::~Interrupt() { set_handler(SIG_DFL); }

const std::atomic<bool>& Interrupt::flag() const noexcept { return interrupted; }

namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J";
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";

termios terminal_before{};

void write_all(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;  // the terminal is gone
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

bool Screen::possible() noexcept {
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
}

bool Screen::has_colors() noexcept {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return (no_color == nullptr || *no_color == '\0') &&
         (term == nullptr || std::strcmp(term, "dumb") != 0);
}

Screen::Screen() {
  ::tcgetattr(STDIN_FILENO, &terminal_before);
  termios raw = terminal_before;
  // Ctrl-C stays a signal: it must end a program that hangs, too.
  raw.c_lflag &= static_cast<tcflag_t>(~(ICANON | ECHO));
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  write_all(kEnter);
}

Screen::~Screen() {
  write_all(kLeave);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
}

ScreenSize Screen::size() const noexcept {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return {};
  }
  return {size.ws_col, size.ws_row};
}

void Screen::draw(const std::string& lines) const {
  // What the last picture had to the right and below is cleared.
  write_all("\x1b[H" + lines + "\x1b[K\x1b[J");
}

char Screen::key(int millis) const {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (::poll(&input, 1, millis) <= 0) return '\0';
  char key = '\0';
  if (::read(STDIN_FILENO, &key, 1) == 1) return key;
  std::this_thread::sleep_for(
      std::chrono::milliseconds(millis));  // its end would be ready for ever
  return '\0';
}

}  // namespace penstock::cli
