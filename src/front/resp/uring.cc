#include "front/resp/uring.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace penstock::front {
namespace {

constexpr int kGroup = 0;  // of buffers
constexpr int kProbeMillis = 1'000;

std::unexpected<Error> unavailable(std::string_view what, int error) {
  return fail(ErrorKind::unavailable, fmt::format("the kernel gives no io_uring ({}: {})", what,
                                                  std::generic_category().message(error)));
}

char* pages(std::size_t bytes) noexcept {
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
}

std::size_t table_bytes(std::size_t buffers) noexcept { return buffers * sizeof(io_uring_buf); }

}  // namespace

void Uring::close() noexcept {
  if (std::exchange(is_open_, false)) io_uring_queue_exit(&ring_);
  if (free_ != nullptr) ::munmap(std::exchange(free_, nullptr), table_bytes(buffers_));
  if (memory_ != nullptr) ::munmap(std::exchange(memory_, nullptr), buffers_ * kBufferBytes);
}

Result<void> Uring::open(const Options& options) {
  // Completions are worked out when the thread waits (6.1), or else whenever it is in the kernel
  // anyway (5.19).
  constexpr unsigned kCommon = IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CQSIZE;
  int result = -EINVAL;
  for (const unsigned kind :
       {IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN, IORING_SETUP_COOP_TASKRUN}) {
    io_uring_params parameters{};
    parameters.flags = kCommon | kind;
    parameters.cq_entries = 4 * options.entries;
    result = io_uring_queue_init_params(options.entries, &ring_, &parameters);
    if (result != -EINVAL) break;
  }
  if (result < 0) return unavailable("set-up", -result);
  is_open_ = true;
  io_uring_register_ring_fd(&ring_);  // saves a look-up at each call; goes without, too
  return add_buffers(options.buffers);
}

Result<void> Uring::add_buffers(std::size_t count) {
  PENSTOCK_CHECK(std::has_single_bit(count));
  buffers_ = count;
  memory_ = pages(count * kBufferBytes);
  free_ = reinterpret_cast<io_uring_buf_ring*>(pages(table_bytes(count)));
  if (memory_ == nullptr || free_ == nullptr) return unavailable("buffers", ENOMEM);
  io_uring_buf_reg ring{};
  ring.ring_addr = reinterpret_cast<std::uintptr_t>(free_);
  ring.ring_entries = static_cast<unsigned>(count);
  ring.bgid = kGroup;
  if (const int result = io_uring_register_buf_ring(&ring_, &ring, 0); result < 0) {
    return unavailable("buffers", -result);
  }
  io_uring_buf_ring_init(free_);
  for (unsigned i = 0; i < count; ++i) give_back(i);
  give_back_all();
  return {};
}

io_uring_sqe& Uring::ask() {
  io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
  while (sqe == nullptr) {
    submit();
    sqe = io_uring_get_sqe(&ring_);
  }
  return *sqe;
}

void Uring::submit_and_wait(unsigned completions, int millis) {
  if (millis < 0) {
    io_uring_submit_and_wait(&ring_, completions);
    return;
  }
  __kernel_timespec time{.tv_sec = millis / 1'000, .tv_nsec = millis % 1'000 * 1'000'000LL};
  io_uring_cqe* first = nullptr;
  io_uring_submit_and_wait_timeout(&ring_, &first, completions, &time, nullptr);
}

void Uring::receive(int fd, std::uint64_t tag) {
  io_uring_sqe& sqe = ask();
  io_uring_prep_recv(&sqe, fd, nullptr, 0, 0);
  sqe.ioprio |= IORING_RECV_MULTISHOT;
  sqe.flags |= IOSQE_BUFFER_SELECT;
  sqe.buf_group = kGroup;
  sqe.user_data = tag;
}

void Uring::give_back(unsigned buffer) noexcept {
  io_uring_buf_ring_add(free_, memory_ + (buffer * kBufferBytes), kBufferBytes,
                        static_cast<unsigned short>(buffer),
                        io_uring_buf_ring_mask(static_cast<unsigned>(buffers_)), given_back_++);
}

void Uring::give_back_all() noexcept {
  io_uring_buf_ring_advance(free_, given_back_);
  given_back_ = 0;
}

Result<void> Uring::probe() {
  Result<void> result;
  std::thread([&result] { result = try_once(); }).join();
  return result;
}

Result<void> Uring::try_once() {
  constexpr std::uint64_t kReceive = 1;
  constexpr std::uint64_t kSend = 2;
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return unavailable("a pair of sockets", errno);
  }
  bool has_received = false;
  Result<void> result;
  {
    Uring ring;
    result = ring.open({.entries = 4, .buffers = 2});
    if (result) {
      ring.receive(ends[0], kReceive);
      io_uring_sqe& send = ring.ask();
      io_uring_prep_send(&send, ends[1], "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
      send.user_data = kSend;
      ring.submit_and_wait(2, kProbeMillis);
      ring.take_completions([&](const io_uring_cqe& cqe) {
        constexpr unsigned kWanted = IORING_CQE_F_MORE | IORING_CQE_F_BUFFER;
        if (cqe.user_data == kReceive && cqe.res == 1 && (cqe.flags & kWanted) == kWanted) {
          has_received = true;
        }
      });
    }
  }
  for (const int fd : ends) ::close(fd);
  if (result && !has_received) return unavailable("repeated receiving", EOPNOTSUPP);
  return result;
}

}  // namespace penstock::front
