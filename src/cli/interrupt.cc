#include "cli/interrupt.h"

#include <csignal>

namespace penstock::cli {
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

}  // namespace penstock::cli
