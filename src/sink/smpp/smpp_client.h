// What all SMPP sinks of a process share: where receipts go, how they are counted and logged, and
// whether the sessions stand. Must outlive its sinks. Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "core/dispatch/item_type.h"
#include "runtime/metrics.h"
#include "runtime/task_queue.h"
#include "sink/receipt_book.h"
#include "sink/sink.h"

namespace penstock::sink {

struct SmppOptions {
  bool refuse_private_addresses = false;  // as HttpClientOptions has it
  // How long a provider that could not be reached is left alone: doubles with every failure.
  Millis retry_first{500};
  Millis retry_most = Seconds{30};
  Millis look_after = Seconds{30};  // of silence, by enquire_link
  std::uint64_t seed = 0;
};

class SmppClient {
 public:
  // All must outlive the client. `book` may be null: then nobody keeps receipts.
  SmppClient(Log& log, runtime::Metrics& metrics, ReceiptBook* book, SmppOptions options);
  ~SmppClient();
  SmppClient(const SmppClient&) = delete;
  SmppClient& operator=(const SmppClient&) = delete;

  // A sink that submits every hand-over as a text message. It binds at once and stays bound, since
  // receipts come whenever they do; a thread of its own does its input and output. At most
  // `settings.concurrency` parts are under way; `settings.timeout` counts from send() to the last
  // answer. While it is not bound, hand-overs are told to come back.
  std::unique_ptr<Sink> open_sink(const core::SinkSettings& settings);

  // Why a session does not stand; does not block.
  Result<void> health() const;

  struct Counters {
    explicit Counters(runtime::Metrics& metrics);
    runtime::Counter& accepted;
    runtime::Counter& throttled;
    runtime::Counter& refused;
    runtime::Counter& failed;
    runtime::Counter& receipts;
    runtime::Counter& ignored;
    runtime::Counter& binds;
  };

 private:
  friend class SmppSink;

  // What each session's state is, by a number of its own; empty = bound.
  std::size_t add_session(std::string problem);
  void set_session(std::size_t session, std::string problem);
  void remove_session(std::size_t session);

  Log& log_;
  Counters counters_;
  ReceiptBook* const book_;
  const SmppOptions options_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::string> sessions_;  // guarded by mutex_
  std::size_t last_session_ = 0;                 // guarded by mutex_
  runtime::TaskQueue resolver_;                  // the machine's resolver blocks
};

}  // namespace penstock::sink
