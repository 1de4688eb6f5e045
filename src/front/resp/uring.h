// An io_uring with a ring of receive buffers. One thread's, from open() to close(): the kernel
// clears up a ring by work that it gives to the threads which used it, and that ends their blocking
// calls with EINTR.
#pragma once

#include <liburing.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace penstock::front {

class Uring {
 public:
  struct Options {
    unsigned entries = 1024;  // asked for with one system call; more take a further one
    // A power of two. One for each connection that is read in a round; who finds none is read in
    // the next.
    std::size_t buffers = 256;
  };

  Uring() = default;
  ~Uring() { close(); }
  Uring(const Uring&) = delete;
  Uring& operator=(const Uring&) = delete;

  // `unavailable` when the kernel does not give all that the RESP server needs.
  Result<void> open(const Options& options);
  void close() noexcept;

  // On any thread: opens one and lets it receive and send once: kernels before 6.0 lack that, and
  // containers often forbid it.
  static Result<void> probe();

  // Never null: submits what was asked for when there is no room.
  io_uring_sqe& ask();
  void submit() { io_uring_submit(&ring_); }
  // Submits what was asked for and waits for so many completions, at most so long; -1 = for ever.
  void submit_and_wait(unsigned completions, int millis);
  // Calls `take` with each completion that is there.
  template <class Take>
  void take_completions(const Take& take) {
    unsigned head = 0;
    unsigned count = 0;
    io_uring_cqe* completion = nullptr;
    io_uring_for_each_cqe(&ring_, head, completion) {
      take(*completion);
      ++count;
    }
    io_uring_cq_advance(&ring_, count);
  }

  // Receives into the buffers until told to stop, one completion each.
  void receive(int fd, std::uint64_t tag);
  // Of a completion that has one.
  static unsigned buffer_of(std::uint32_t flags) noexcept {
    return flags >> IORING_CQE_BUFFER_SHIFT;
  }
  std::string_view received(unsigned buffer, int size) const noexcept {
    return {memory_ + (buffer * kBufferBytes), static_cast<std::size_t>(size)};
  }
  // The kernel gets it with give_back_all().
  void give_back(unsigned buffer) noexcept;
  void give_back_all() noexcept;

  // A pipeline of 16 decisions takes 1.4 KiB; larger bursts take several.
  static constexpr std::size_t kBufferBytes = 8 * 1024;

 private:
  static Result<void> try_once();
  Result<void> add_buffers(std::size_t count);

  io_uring ring_{};
  bool is_open_ = false;
  std::size_t buffers_ = 0;
  io_uring_buf_ring* free_ = nullptr;
  char* memory_ = nullptr;  // of the buffers
  int given_back_ = 0;
};

}  // namespace penstock::front
