#include "wire/smpp_receipt.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/ascii.h"

namespace penstock::wire {
namespace {

using core::DeliveryState;

constexpr std::uint8_t kEsmClassKind = 0x3C;
constexpr std::uint8_t kEsmClassOnTheWay = 0x20;  // an intermediate notification
constexpr std::size_t kWordBytesMax = 65;

// By the protocol's number of the state, from 1.
constexpr std::array<std::pair<DeliveryState, std::string_view>, 8> kStates = {
    {{DeliveryState::enroute, "ENROUTE"},
     {DeliveryState::delivered, "DELIVRD"},
     {DeliveryState::expired, "EXPIRED"},
     {DeliveryState::deleted, "DELETED"},
     {DeliveryState::undeliverable, "UNDELIV"},
     {DeliveryState::accepted, "ACCEPTD"},
     {DeliveryState::unknown, "UNKNOWN"},
     {DeliveryState::rejected, "REJECTD"}}};

bool same_letters(std::string_view one, std::string_view other) {
  return std::ranges::equal(one, other, {}, ascii_lower, ascii_lower);
}

// The word behind `name`, which stands at the begin or behind a space; empty when there is none.
std::string_view word_behind(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; at + name.size() <= text.size(); ++at) {
    if (at > 0 && text[at - 1] != ' ') continue;
    if (!same_letters(text.substr(at, name.size()), name)) continue;
    std::string_view word = text.substr(at + name.size());
    word = word.substr(0, std::min(word.find(' '), kWordBytesMax));
    const bool printable = std::ranges::all_of(word, [](char c) { return c > ' ' && c < 0x7F; });
    return printable ? word : std::string_view();
  }
  return {};
}

DeliveryState state_of(std::string_view word) {
  for (const auto& [state, name] : kStates) {
    if (same_letters(word, name)) return state;
  }
  return DeliveryState::unknown;
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7F; });
}

}  // namespace

std::string plain_reference(std::string_view reference, int base) {
  std::uint64_t number = 0;
  const char* const end = reference.data() + reference.size();
  const auto [read, error] = std::from_chars(reference.data(), end, number, base);
  if (reference.empty() || error != std::errc{} || read != end) return std::string(reference);
  return std::to_string(number);
}

std::optional<SmppReceipt> read_smpp_receipt(const SmppMessage& message) {
  const std::uint8_t kind = message.esm_class & kEsmClassKind;
  if (kind != kEsmClassReceipt && kind != kEsmClassOnTheWay) return std::nullopt;
  SmppReceipt receipt;
  // What is behind the words of the original message is not the provider's.
  std::string_view text = message.text;
  for (std::size_t at = 0; at + 6 <= text.size(); ++at) {
    if (same_letters(text.substr(at, 6), " text:")) text = text.substr(0, at);
  }
  receipt.reference = is_printable(message.receipted_id) ? message.receipted_id : "";
  if (receipt.reference.empty()) receipt.reference = word_behind(text, "id:");
  if (receipt.reference.empty()) return std::nullopt;
  const std::string_view word = word_behind(text, "stat:");
  receipt.detail = word;
  receipt.state = state_of(word);
  if (message.message_state && *message.message_state >= 1 &&
      *message.message_state <= kStates.size()) {
    const auto& [state, name] = kStates[*message.message_state - 1];
    receipt.state = state;
    if (receipt.detail.empty()) receipt.detail = name;
  }
  const std::string_view error = word_behind(text, "err:");
  if (!error.empty() && error.find_first_not_of('0') != std::string_view::npos) {
    receipt.detail += receipt.detail.empty() ? "error " : ", error ";
    receipt.detail += error;
  }
  return receipt;
}

}  // namespace penstock::wire
