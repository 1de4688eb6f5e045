// Reads a file of events or payments and gets every line answered, several batches in flight, in
// memory that does not depend on the size of the file. Answers are handed on in the order of the
// file.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "tool/import/batch_sender.h"
#include "tool/import/progress.h"
#include "tool/import/records.h"

namespace penstock::tool {

struct ImportOptions {
  std::size_t batch_lines = 1'000;
  std::size_t concurrency = 4;  // batches in flight
  Patience patience;
  ReadLine read_line = read_slot_line;
  ImportTally before = {};  // what an earlier run got done, to be counted on
};

// What the import reaches the world by. `on_line` and `on_progress` are called by one thread at a
// time, not always the same; the others as said.
struct ImportHooks {
  std::function<SendBatch()> make_sender;     // once per thread, on the caller's thread
  std::function<bool()> stopped;              // any thread; true once Ctrl-C was pressed
  std::function<void(Millis)> sleep;          // any thread
  std::function<std::uint64_t()> bytes_read;  // of the input; on the caller's thread
  std::function<Result<void>(const Record&, const LineAnswer&)> on_line;  // in the file's order
  // `bytes` of the input are answered so far. A failure ends the import.
  std::function<Result<void>(const ImportTally&, std::uint64_t bytes,
                             const std::string& waiting_for)>
      on_progress;
};

struct ImportOutcome {
  ImportTally tally;
  ImportStop stop;
};

class Importer {
 public:
  Importer(ImportOptions options, ImportHooks hooks);

  // Blocks until everything is answered or the import ends early. Call once.
  ImportOutcome run(RecordReader& records);

 private:
  struct Batch {
    std::uint64_t number = 0;
    std::vector<Record> records;
    std::uint64_t bytes_read = 0;  // of the input when the batch was complete
    Answered answers;              // empty until answered
  };

  Result<bool> fill(RecordReader& records, Batch& batch);
  bool submit(Batch batch);  // waits for room; false: the import ends
  void work(BatchSender& sender);
  void deliver(Batch batch);
  void deliver_in_order();           // under mutex_
  void deliver_lines(Batch& batch);  // under mutex_
  void report_progress();            // under mutex_
  void end(ImportStop stop);         // the first reason stays
  bool ending() const;

  const ImportOptions options_;
  const ImportHooks hooks_;
  SenderShared shared_;

  mutable std::mutex mutex_;
  std::condition_variable work_;             // the queue has a batch, or no more will come
  std::condition_variable room_;             // a batch was delivered, or the import ends
  std::deque<Batch> queue_;                  // guarded by mutex_
  std::map<std::uint64_t, Batch> answered_;  // guarded by mutex_; waiting for earlier ones
  std::uint64_t next_ = 0;                   // guarded by mutex_; batch to deliver next
  bool closed_ = false;                      // guarded by mutex_; nothing more is submitted
  std::uint64_t bytes_answered_ = 0;         // guarded by mutex_
  ImportTally tally_;                        // guarded by mutex_
  std::optional<ImportStop> stop_;           // guarded by mutex_
};

}  // namespace penstock::tool
