// Port: who keeps what a provider says of messages that it took. A sink that learns of it later, or
// in another life of the process, tells it here.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "core/gateway/delivery.h"

namespace penstock::sink {

struct TakenMessage {
  std::string provider;  // in whose words the references are
  ItemId message;
  std::vector<std::string> references;  // one for each part, in order; empty = none was given
};

struct ProviderReceipt {
  std::string provider;
  std::string reference;
  core::DeliveryState state = core::DeliveryState::unknown;
  std::string detail;
};

class ReceiptBook {
 public:
  // Whether it is durable now. Called exactly once, at once or later, on any thread; must not
  // block.
  using Kept = std::move_only_function<void(bool kept)>;

  ReceiptBook() = default;
  ReceiptBook(const ReceiptBook&) = delete;
  ReceiptBook& operator=(const ReceiptBook&) = delete;
  virtual ~ReceiptBook() = default;

  // Neither blocks. A receipt may come before its message: they find each other.
  virtual void note_taken(TakenMessage&& message, Kept kept) = 0;
  virtual void note_receipt(ProviderReceipt&& receipt, Kept kept) = 0;
};

}  // namespace penstock::sink
