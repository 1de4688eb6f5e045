#include "sink/smpp/mailbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"

namespace penstock::sink {

SmppMailbox::SmppMailbox() : fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  PENSTOCK_CHECK(fd_ >= 0);
}

SmppMailbox::~SmppMailbox() { ::close(fd_); }

void SmppMailbox::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t done = ::write(fd_, &one, sizeof(one));
}

bool SmppMailbox::put(Letter&& letter) {
  {
    const std::lock_guard lock(mutex_);
    if (mail_.closed) return false;
    mail_.letters.push_back(std::move(letter));
  }
  wake();
  return true;
}

void SmppMailbox::put(const Kept& kept) {
  {
    const std::lock_guard lock(mutex_);
    mail_.kept.push_back(kept);
  }
  wake();
}

void SmppMailbox::put(Result<std::vector<SocketAddress>> addresses) {
  {
    const std::lock_guard lock(mutex_);
    mail_.addresses = std::move(addresses);
  }
  wake();
}

void SmppMailbox::close() {
  {
    const std::lock_guard lock(mutex_);
    mail_.closed = true;
  }
  wake();
}

SmppMailbox::Mail SmppMailbox::take() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t done = ::read(fd_, &count, sizeof(count));
  const std::lock_guard lock(mutex_);
  Mail taken = std::move(mail_);
  mail_ = {.letters = {}, .kept = {}, .addresses = {}, .closed = taken.closed};
  return taken;
}

void SmppMailbox::begin_answer() {
  const std::lock_guard lock(mutex_);
  ++answers_;
}

void SmppMailbox::end_answer() {
  const std::lock_guard lock(mutex_);
  if (--answers_ == 0) answered_.notify_all();
}

void SmppMailbox::wait_for_answers() {
  std::unique_lock lock(mutex_);
  answered_.wait(lock, [this] { return answers_ == 0; });
}

}  // namespace penstock::sink
