// One call of PaymentStore::take(): looks the payments up and writes the new ones with their items
// in one atomic step. Its buffers live for one call. For the thread that holds the writer's mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "engine/rocksdb/records.h"
#include "store/embedded/writer.h"
#include "store/payments/embedded/payment_encoding.h"
#include "store/payments/ports.h"
#include "store/queue/embedded/enqueue_batch.h"

namespace penstock::store::embedded {

// The item of a payment.
NewItem item_of(const NewPayment& payment);

Error foreign_item(const PaymentId& id);  // an item of its name belongs to no payment

void add_payment(Changes& changes, const PaymentId& id, const PaymentEntry& payment);
// From the status `before` to that of the record.
void change_payment(Changes& changes, const PaymentId& id, PaymentStatus before,
                    const PaymentEntry& payment);
void forget_payment(Changes& changes, const PaymentPlace& place, PaymentStatus status);

class PaymentBatch {
 public:
  PaymentBatch(Writer& writer, EnqueueBatch& enqueue, std::span<const NewPayment> payments,
               Instant now)
      : writer_(writer), enqueue_(enqueue), payments_(payments), now_(now) {}

  std::vector<Result<TakenPayment>> run();

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  void sort();
  Result<TakenPayment> known(const Engine::View& view, std::size_t place, std::size_t key);
  Result<void> write(const Engine::View& view);

  Writer& writer_;
  EnqueueBatch& enqueue_;
  const std::span<const NewPayment> payments_;
  const Instant now_;

  std::vector<std::size_t> order_;    // payments, ascending by id
  std::vector<std::size_t> key_of_;   // payment -> its distinct id
  std::vector<std::size_t> first_;    // distinct id -> the first payment of it
  std::vector<rocksdb::Slice> keys_;  // of distinct ids
  LookUp look_up_;                    // of keys_

  std::vector<std::size_t> created_;  // payments that are new, ascending by id
  std::vector<NewItem> items_;        // of those that are scheduled
  std::vector<std::size_t> item_of_;  // payment -> its item, or kNone
  std::vector<bool> foreign_;         // payments whose item somebody else brought
};

}  // namespace penstock::store::embedded
