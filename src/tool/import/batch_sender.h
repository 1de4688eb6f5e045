// Gets batches of lines answered through restarts and overload of the daemon: sending a line twice
// is safe, since an event that has a slot keeps it, and a payment is known by its id. One sender
// per thread; SenderShared is for all.
#pragma once

#include <atomic>
#include <expected>
#include <functional>
#include <mutex>
#include <span>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "tool/import/batch_answer.h"
#include "tool/import/records.h"

namespace penstock::tool {

enum class ImportEnd {
  complete,
  interrupted,   // Ctrl-C
  refused,       // the daemon takes no line of this import, or refused for too long
  unreachable,   // no answer for too long
  input_broken,  // the file could not be read to its end
  output_broken  // --output or --errors could not be written
};

struct ImportStop {
  ImportEnd end = ImportEnd::complete;
  std::string why;
};

// One call of the batch route; `body` is NDJSON.
using SendBatch = std::function<Result<http::HttpAnswer>(const std::string& body)>;

struct Patience {
  Millis before_first_answer = Seconds{5};  // a wrong address shows soon
  Millis after = std::chrono::minutes{2};   // a restart of the daemon is ridden out
};

// What the senders of one import have in common. Thread-safe.
struct SenderShared {
  Patience patience;
  ReadLine read_line = read_slot_line;
  std::function<bool()> stopped;       // true: begin no other call
  std::function<void(Millis)> sleep;   // may return early once stopped
  std::atomic<bool> answered = false;  // some call got through
  std::atomic<std::uint64_t> retries = 0;

  void set_waiting_for(std::string why);
  std::string waiting_for() const;  // empty = nothing waits

 private:
  mutable std::mutex mutex_;
  std::string waiting_for_;  // guarded by mutex_
};

class BatchSender {
 public:
  // `shared` must outlive the sender.
  BatchSender(SendBatch send, SenderShared& shared) : send_(std::move(send)), shared_(shared) {}

  // One answer per record, in order; or the end of the whole import.
  std::expected<Answered, ImportStop> send(std::span<const Record> records);

 private:
  using Indexes = std::vector<std::size_t>;
  struct Streak;  // of failures since something last got through

  std::expected<void, ImportStop> send_some(std::span<const Record> records,
                                            std::span<const std::size_t> which, Answered& answers);
  std::expected<void, ImportStop> pause(Streak& streak, Millis asked, const std::string& why,
                                        ImportEnd end);

  const SendBatch send_;
  SenderShared& shared_;
};

}  // namespace penstock::tool
