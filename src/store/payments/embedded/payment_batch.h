// One call of PaymentStore::take(): looks the payments up and writes the new ones with their items
// in one atomic step. Its buffers live for one call. For the thread that holds the writer's mutex.
#pragma once

#include <rocksdb/slice.h>
#include <rocksdb/status.h>
#include <rocksdb/write_batch.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "engine/rocksdb/engine.h"
#include "store/embedded/writer.h"
#include "store/payments/embedded/payment_encoding.h"
#include "store/payments/ports.h"
#include "store/queue/embedded/enqueue_batch.h"

namespace penstock::store::embedded {

// The item of a payment.
NewItem item_of(const NewPayment& payment);

// Gathers the writes of one payment into a batch; remembers the first failure.
class PaymentWrites {
 public:
  PaymentWrites(const Engine::View& view, rocksdb::WriteBatch& batch)
      : view_(view), batch_(batch) {}

  void add(const PaymentId& id, const PaymentEntry& payment);  // a new one
  // From the status `before` to that of the record.
  void change(const PaymentId& id, PaymentStatus before, const PaymentEntry& payment);
  void forget(const PaymentPlace& place, PaymentStatus status);
  Result<void> status() const;

 private:
  void put(Family family, std::string_view key, std::string_view value);
  void remove_once(Family family, std::string_view key);

  const Engine::View& view_;
  rocksdb::WriteBatch& batch_;
  rocksdb::Status status_;
  std::string value_;
};

class PaymentBatch {
 public:
  PaymentBatch(Writer& writer, EnqueueBatch& enqueue, std::span<const NewPayment> payments,
               Instant now)
      : writer_(writer), enqueue_(enqueue), payments_(payments), now_(now) {}

  std::vector<Result<TakenPayment>> run();

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  void sort();
  void look_up(const Engine::View& view);
  Result<TakenPayment> known(const Engine::View& view, std::size_t place, std::size_t key);
  Result<void> write(const Engine::View& view);
  Result<void> write_alone(const Engine::View& view);
  void add_to(PaymentWrites& writes, std::size_t place) const;

  Writer& writer_;
  EnqueueBatch& enqueue_;
  const std::span<const NewPayment> payments_;
  const Instant now_;

  std::vector<std::size_t> order_;   // payments, ascending by id
  std::vector<std::size_t> key_of_;  // payment -> its distinct id
  std::vector<std::size_t> first_;   // distinct id -> the first payment of it
  // Of each distinct id: its key, and what the look-up gave.
  std::vector<rocksdb::Slice> keys_;
  std::vector<rocksdb::PinnableSlice> found_;
  std::vector<rocksdb::Status> statuses_;

  std::vector<std::size_t> created_;  // payments that are new, ascending by id
  std::vector<NewItem> items_;        // of those that are scheduled
  std::vector<std::size_t> item_of_;  // payment -> its item, or kNone
  std::vector<bool> foreign_;         // payments whose item somebody else brought
};

}  // namespace penstock::store::embedded
