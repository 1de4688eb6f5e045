#include "core/gateway/message.h"

#include <algorithm>
#include <charconv>

namespace penstock::core {
namespace {

// Crockford's: no letter that looks like a digit.
constexpr std::string_view kIdAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr std::size_t kTimeLetters = 10;    // 48 bits of milliseconds, and two that are zero
constexpr std::size_t kChanceLetters = 16;  // 80 bits
constexpr std::size_t kLetters = kTimeLetters + kChanceLetters;

template <class Number>
void put_letters(std::string& out, Number value, std::size_t letters) {
  for (std::size_t i = letters; i-- > 0;) {
    out.push_back(kIdAlphabet[static_cast<std::size_t>(value >> (5 * i)) & 31]);
  }
}

}  // namespace

bool is_phone_number(std::string_view text) noexcept {
  constexpr std::size_t kDigitsMax = 20;  // what SMPP holds; E.164 has 15
  if (text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && text.size() <= kDigitsMax &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Spaces and control characters, as Java's String.trim takes them: no phone shows anything of it.
bool is_blank(std::string_view message) noexcept {
  return std::ranges::all_of(message, [](char c) { return c >= '\0' && c <= ' '; });
}

ItemId make_message_id(Instant now, UserId user, std::uint64_t chance, std::uint16_t more_chance) {
  __extension__ using Wide = unsigned __int128;
  std::string out;
  out.reserve(kLetters + 12);
  put_letters(out, static_cast<std::uint64_t>(std::max<std::int64_t>(to_epoch_millis(now), 0)),
              kTimeLetters);
  put_letters(out, static_cast<Wide>(chance) << 16 | more_chance, kChanceLetters);
  out.push_back('-');
  out += std::to_string(user.raw);
  return ItemId::trusted(std::move(out));
}

Instant time_of_message(std::string_view id) noexcept {
  std::int64_t millis = 0;
  for (const char letter : id.substr(0, kTimeLetters)) {
    millis = millis << 5 | static_cast<std::int64_t>(kIdAlphabet.find(letter) & 31);
  }
  // As far as an Instant goes: anyone can write down an id.
  constexpr std::int64_t kMillisMax = std::int64_t{1} << 48;
  return from_epoch_millis(std::min(millis, kMillisMax));
}

std::optional<UserId> user_of_message(std::string_view id) noexcept {
  if (id.size() < kLetters + 2 || id[kLetters] != '-') return std::nullopt;
  if (id.substr(0, kLetters).find_first_not_of(kIdAlphabet) != id.npos) return std::nullopt;
  const std::string_view digits = id.substr(kLetters + 1);
  if (digits.size() > 1 && digits.front() == '0') return std::nullopt;
  UserId user;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), user.raw);
  if (error != std::errc{} || end != digits.data() + digits.size() || user.raw < 0) {
    return std::nullopt;
  }
  return user;
}

}  // namespace penstock::core
