// Who is told that a payment was accepted. The execution knows this interface and nothing of what
// stands behind it.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/ids.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "store/queue/ports.h"

namespace penstock::service {

inline const ItemType& notice_item_type() {
  static const ItemType type = ItemType::trusted("PAYMENT_NOTICE");
  return type;
}

// What post-processing makes of a payment that the downstream has accepted.
struct PaymentNotice {
  PaymentId id;
  std::string answer;   // what the downstream said: "HTTP 200"
  std::string payment;  // JSON: the context that it was executed with
};

class PaymentNotifier {
 public:
  PaymentNotifier() = default;
  PaymentNotifier(const PaymentNotifier&) = delete;
  PaymentNotifier& operator=(const PaymentNotifier&) = delete;
  virtual ~PaymentNotifier() = default;

  // Blocks. All of them, or an error; after an error, or a crash, they come again: the same notice
  // twice must do no harm.
  virtual Result<void> notify(std::span<const PaymentNotice> notices) = 0;
};

// An item of type PAYMENT_NOTICE for each, with the payment's id, where such a type is set up: it
// is then delivered, paced and retried as any item. A line in the log where it is not. Thread-safe.
class QueueNotifier final : public PaymentNotifier {
 public:
  using Wake = std::function<void(const ItemType&)>;

  // All must outlive this. `wake` is told when there are new items.
  QueueNotifier(store::QueueStore& queue, store::ItemTypeStore& types, const Clock& clock, Log& log,
                Wake wake);

  Result<void> notify(std::span<const PaymentNotice> notices) override;

 private:
  store::QueueStore& queue_;
  store::ItemTypeStore& types_;
  const Clock& clock_;
  Log& log_;
  const Wake wake_;
};

}  // namespace penstock::service
