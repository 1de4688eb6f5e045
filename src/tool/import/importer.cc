#include "tool/import/importer.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/check.h"

namespace penstock::tool {
namespace {

// A batch ends here, too, so that it stays far below the daemon's limit of 16 MiB.
constexpr std::size_t kBatchBytesMax = 4 * 1024 * 1024;
// Batches read but not yet delivered, per batch in flight: a slow one holds the others up no
// sooner.
constexpr std::size_t kBatchesAheadPerSender = 3;
constexpr Millis kSleepSlice{50};  // how late a waiting thread notices the end

}  // namespace

Importer::Importer(ImportOptions options, ImportHooks hooks)
    : options_(std::move(options)), hooks_(std::move(hooks)) {
  PENSTOCK_CHECK(options_.batch_lines > 0 && options_.concurrency > 0);
  shared_.patience = options_.patience;
  shared_.read_line = options_.read_line;
  tally_ = options_.before;
  shared_.stopped = [this] { return ending(); };
  shared_.sleep = [this](Millis delay) {
    {
      const std::lock_guard lock(mutex_);
      report_progress();
    }
    for (; delay > Millis{0} && !ending(); delay -= kSleepSlice) {
      hooks_.sleep(std::min(delay, kSleepSlice));
    }
  };
}

ImportOutcome Importer::run(RecordReader& records) {
  std::vector<BatchSender> senders;
  senders.reserve(options_.concurrency);
  for (std::size_t i = 0; i < options_.concurrency; ++i) {
    senders.emplace_back(hooks_.make_sender(), shared_);
  }
  {
    std::vector<std::jthread> threads;
    threads.reserve(senders.size());
    for (BatchSender& sender : senders) threads.emplace_back([this, &sender] { work(sender); });
    for (std::uint64_t number = 0;; ++number) {
      Batch batch{.number = number};
      const Result<bool> more = fill(records, batch);
      if (!more) end({ImportEnd::input_broken, more.error().what});
      const bool last = !more || !*more;
      if (!batch.records.empty() && !submit(std::move(batch))) break;
      if (last) break;
    }
    const std::lock_guard lock(mutex_);
    closed_ = true;
    work_.notify_all();
  }  // the threads end here

  const std::lock_guard lock(mutex_);
  // After an early end there may be holes; what was answered still counts.
  for (auto& [number, batch] : answered_) deliver_lines(batch);
  tally_.retries += shared_.retries;
  if (!stop_ && hooks_.stopped()) stop_ = {ImportEnd::interrupted, ""};
  return {std::move(tally_), std::move(stop_).value_or(ImportStop{})};
}

// False at the end of the input.
Result<bool> Importer::fill(RecordReader& records, Batch& batch) {
  std::size_t bytes = 0;
  while (batch.records.size() < options_.batch_lines && bytes < kBatchBytesMax) {
    Record record;
    const Result<bool> more = records.next(record);
    if (!more || !*more) {
      batch.bytes_read = hooks_.bytes_read();
      return more;
    }
    bytes += record.json.size() + record.input.size();
    batch.records.push_back(std::move(record));
  }
  batch.bytes_read = hooks_.bytes_read();
  return true;
}

bool Importer::submit(Batch batch) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] {
    return stop_ || batch.number - next_ < options_.concurrency * kBatchesAheadPerSender;
  });
  tally_.read += batch.records.size();
  if (stop_ || hooks_.stopped()) return false;
  queue_.push_back(std::move(batch));
  work_.notify_one();
  return true;
}

void Importer::work(BatchSender& sender) {
  for (;;) {
    Batch batch;
    {
      std::unique_lock lock(mutex_);
      work_.wait(lock, [&] { return closed_ || stop_ || !queue_.empty(); });
      if (stop_ || queue_.empty()) return;
      batch = std::move(queue_.front());
      queue_.pop_front();
    }
    std::expected<Answered, ImportStop> answers = sender.send(batch.records);
    if (!answers) return end(std::move(answers.error()));
    batch.answers = *std::move(answers);
    deliver(std::move(batch));
  }
}

void Importer::deliver(Batch batch) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t number = batch.number;
  answered_.emplace(number, std::move(batch));
  deliver_in_order();
}

void Importer::deliver_in_order() {
  for (auto first = answered_.find(next_); first != answered_.end();
       first = answered_.find(next_)) {
    deliver_lines(first->second);
    tally_.through_line = first->second.records.back().line;
    bytes_answered_ = first->second.bytes_read;
    report_progress();
    answered_.erase(first);
    ++next_;
    room_.notify_one();
  }
}

void Importer::report_progress() {
  const Result<void> reported = hooks_.on_progress(tally_, bytes_answered_, shared_.waiting_for());
  if (reported) return;
  if (!stop_) stop_ = {ImportEnd::output_broken, reported.error().what};
  room_.notify_one();
  work_.notify_all();
}

void Importer::deliver_lines(Batch& batch) {
  for (std::size_t i = 0; i < batch.records.size(); ++i) {
    const LineAnswer& answer = batch.answers[i];
    tally_.count(answer);
    if (const Result<void> written = hooks_.on_line(batch.records[i], answer); !written) {
      if (!stop_) stop_ = {ImportEnd::output_broken, written.error().what};
      room_.notify_one();
      work_.notify_all();
    }
  }
}

void Importer::end(ImportStop stop) {
  const std::lock_guard lock(mutex_);
  if (!stop_) stop_ = std::move(stop);
  room_.notify_one();
  work_.notify_all();
}

bool Importer::ending() const {
  if (hooks_.stopped()) return true;
  const std::lock_guard lock(mutex_);
  return stop_.has_value();
}

}  // namespace penstock::tool
