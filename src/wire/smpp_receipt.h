// What a delivery receipt says: by the options of the protocol where a provider sends them, else by
// the text that most send ("id:… sub:… dlvrd:… submit date:… done date:… stat:DELIVRD err:000").
// Total; pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/gateway/delivery.h"
#include "wire/smpp.h"

namespace penstock::wire {

struct SmppReceipt {
  std::string reference;  // of the message that it is about, as the provider named it
  core::DeliveryState state = core::DeliveryState::unknown;
  std::string detail;  // "DELIVRD", "UNDELIV, error 012": printable ASCII

  friend bool operator==(const SmppReceipt&, const SmppReceipt&) = default;
};

// A number that one side writes in hex and the other in decimal, in one form for both; what is no
// number of up to 64 bits stays as it is.
std::string plain_reference(std::string_view reference, int base);

// None when it is a message to us, or says of which message it speaks nowhere.
std::optional<SmppReceipt> read_smpp_receipt(const SmppMessage& message);

}  // namespace penstock::wire
