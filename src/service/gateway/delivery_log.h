// Keeps what providers say of messages: where references belong and what was reported of them,
// written in batches in the order in which it came. Reports that come before their message, or in
// another life of the process, find it by the store. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <variant>
#include <vector>

#include "base/log.h"
#include "base/time.h"
#include "runtime/batcher.h"
#include "runtime/metrics.h"
#include "runtime/threads.h"
#include "sink/receipt_book.h"
#include "store/quota/ports.h"
#include "store/retention_clock.h"

namespace penstock::service {

struct DeliveryLogOptions {
  std::size_t queue_max = 65'536;
  std::size_t batch_max = 4'096;
  Millis retention = std::chrono::days{7};  // of what was written
  Millis retention_interval = std::chrono::minutes{1};
};

class DeliveryLog final : public sink::ReceiptBook {
 public:
  // All must outlive the log.
  // `retention_clock` null = by `clock` alone.
  DeliveryLog(DeliveryLogOptions options, store::DeliveryStore& store, const Clock& clock, Log& log,
              runtime::Metrics& metrics, store::RetentionClock* retention_clock = nullptr);
  ~DeliveryLog() override { stop(); }

  void note_taken(sink::TakenMessage&& message, Kept kept) override;
  void note_receipt(sink::ProviderReceipt&& receipt, Kept kept) override;

  // Writes what was taken; later notes are not kept. Idempotent.
  void stop();

 private:
  using Note = std::variant<sink::TakenMessage, sink::ProviderReceipt>;
  enum class Fate : std::uint8_t { lost, kept };

  void note(Note&& note, Kept&& kept);
  std::vector<Fate> execute(std::span<Note> notes);
  bool write_taken(std::vector<store::TakenPart>& parts);
  bool write_reports(std::vector<store::PartReport>& reports);
  void complain(const Error& error);
  void forget_old(const std::function<bool()>& should_stop);

  const DeliveryLogOptions options_;
  store::DeliveryStore& store_;
  const Clock& clock_;
  store::RetentionClock* const retention_clock_;
  Log& log_;
  runtime::Counter& unmatched_;
  runtime::Counter& lost_;
  bool failed_ = false;  // the batcher's
  runtime::Batcher<Note, Fate> batcher_;
  runtime::Ticker retention_ticker_;  // last: their threads use all of the above
};

}  // namespace penstock::service
