// What other threads have for the thread of an SMPP sink. Outlives the sink: names that are being
// resolved and receipts that are being written come back to it. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "sink/sink.h"
#include "sink/smpp/socket.h"

namespace penstock::sink {

class SmppMailbox {
 public:
  struct Letter {
    Handover item;
    Sink::Done done;
  };
  struct Kept {
    std::uint64_t session = 0;  // that the receipt came in; another one has other numbers
    std::uint32_t sequence = 0;
    bool kept = false;
  };
  struct Mail {
    std::vector<Letter> letters;
    std::vector<Kept> kept;
    std::optional<Result<std::vector<SocketAddress>>> addresses;
    bool closed = false;
  };

  SmppMailbox();
  ~SmppMailbox();
  SmppMailbox(const SmppMailbox&) = delete;
  SmppMailbox& operator=(const SmppMailbox&) = delete;

  // False: closed; the letter stays with the caller.
  bool put(Letter&& letter);
  void put(const Kept& kept);
  void put(Result<std::vector<SocketAddress>> addresses);
  void close();

  Mail take();
  int fd() const noexcept { return fd_; }  // can be read when there is mail

  // Answers that somebody else is to give: the sink's end waits for them.
  void begin_answer();
  void end_answer();
  void wait_for_answers();

 private:
  void wake();

  const int fd_;
  std::mutex mutex_;
  std::condition_variable answered_;
  Mail mail_;        // guarded by mutex_
  int answers_ = 0;  // guarded by mutex_
};

}  // namespace penstock::sink
