// SMPP 3.4, as far as a sender of text messages needs it: units of the protocol (PDUs) to bytes and
// back. Reading is total: any bytes give a unit, "need more", or what is wrong with them. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace penstock::wire {

enum class SmppCommand : std::uint32_t {
  generic_nack = 0x8000'0000,
  submit_sm = 0x0000'0004,
  submit_sm_resp = 0x8000'0004,
  deliver_sm = 0x0000'0005,
  deliver_sm_resp = 0x8000'0005,
  unbind = 0x0000'0006,
  unbind_resp = 0x8000'0006,
  bind_transceiver = 0x0000'0009,
  bind_transceiver_resp = 0x8000'0009,
  outbind = 0x0000'000B,
  enquire_link = 0x0000'0015,
  enquire_link_resp = 0x8000'0015,
  alert_notification = 0x0000'0102,
};
constexpr bool is_response(SmppCommand command) noexcept {
  return (static_cast<std::uint32_t>(command) & 0x8000'0000U) != 0;
}

// The statuses that matter here; a provider may send any other.
inline constexpr std::uint32_t kSmppOk = 0x00;
inline constexpr std::uint32_t kSmppInvalidLength = 0x02;
inline constexpr std::uint32_t kSmppInvalidCommand = 0x03;
inline constexpr std::uint32_t kSmppSystemError = 0x08;
inline constexpr std::uint32_t kSmppQueueFull = 0x14;
inline constexpr std::uint32_t kSmppThrottled = 0x58;
inline constexpr std::uint32_t kSmppTryAgain = 0x64;  // of a receiver: for the time being

// "ESME_RTHROTTLED (0x58)"; "status 0x400" when the protocol has no name for it.
std::string smpp_status_name(std::uint32_t status);

struct SmppHeader {
  SmppCommand command{};
  std::uint32_t status = kSmppOk;
  std::uint32_t sequence = 0;  // from 1; an answer carries its request's

  friend bool operator==(const SmppHeader&, const SmppHeader&) = default;
};

inline constexpr std::size_t kSmppHeaderBytes = 16;
// The largest payload (64 KiB) with room for the rest of a message and its options.
inline constexpr std::size_t kSmppPduBytesMax = 80 * 1024;

// One unit off the front of `bytes`.
struct SmppFrame {
  enum class State : std::uint8_t { need_more, complete, broken };

  State state = State::need_more;
  SmppHeader header;      // of a complete one
  std::string_view body;  // of a complete one; points into `bytes`
  std::size_t size = 0;   // of a complete one, with its header
};
// `broken`: the length is no length of a unit, so that nobody knows where the next one begins.
SmppFrame read_smpp_frame(std::string_view bytes) noexcept;

struct SmppAddress {
  std::uint8_t ton = 0;
  std::uint8_t npi = 0;
  std::string number;  // or a name, of a sender

  friend bool operator==(const SmppAddress&, const SmppAddress&) = default;
};

// "+491511234": international. Digits alone: unknown, for the provider to tell. Anything else is a
// name.
SmppAddress smpp_address_of(std::string_view text);

struct SmppBind {
  std::string system_id;
  std::string password;
  std::string system_type;

  friend bool operator==(const SmppBind&, const SmppBind&) = default;
};

// Of submit_sm and of deliver_sm: their bodies are the same.
struct SmppMessage {
  SmppAddress source;
  SmppAddress destination;
  std::uint8_t esm_class = 0;
  std::uint8_t registered_delivery = 0;
  std::uint8_t data_coding = 0;
  std::string text;  // at most kSmppTextBytesMax are written
  // Options of a delivery receipt.
  std::string receipted_id;  // empty = none
  std::optional<std::uint8_t> message_state;

  friend bool operator==(const SmppMessage&, const SmppMessage&) = default;
};
inline constexpr std::size_t kSmppTextBytesMax = 254;

inline constexpr std::uint8_t kEsmClassReceipt = 0x04;  // of deliver_sm: what became of a message
inline constexpr std::uint8_t kEsmClassHeader = 0x40;   // the text begins with a header of its own
inline constexpr std::uint8_t kDataCodingDefault = 0x00;  // GSM 03.38
inline constexpr std::uint8_t kDataCodingUcs2 = 0x08;
inline constexpr std::uint8_t kReceiptAlways = 0x01;

void append_smpp(std::string& out, const SmppHeader& header);  // without a body
void append_smpp_bind(std::string& out, std::uint32_t sequence, const SmppBind& bind);
void append_smpp_message(std::string& out, const SmppHeader& header, const SmppMessage& message);
// Of submit_sm_resp, deliver_sm_resp and the answers to binds: a status and one text.
void append_smpp_answer(std::string& out, const SmppHeader& header, std::string_view id);

// The errors' `what` is a sentence without an end.
Result<SmppBind> decode_smpp_bind(std::string_view body);
Result<SmppMessage> decode_smpp_message(std::string_view body);
// The text of an answer; empty when there is none, as with most errors.
Result<std::string> decode_smpp_answer(std::string_view body);

}  // namespace penstock::wire
