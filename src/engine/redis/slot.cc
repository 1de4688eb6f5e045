#include "engine/redis/slot.h"

#include <array>

namespace penstock::store::redis {
namespace {

constexpr std::array<std::uint16_t, 256> kTable = [] {
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    unsigned crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000) != 0 ? crc << 1 ^ 0x1021 : crc << 1;
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}();

}  // namespace

std::uint16_t crc16(std::string_view bytes) noexcept {
  unsigned crc = 0;
  for (const char byte : bytes) {
    crc = (crc << 8 ^ kTable[(crc >> 8 ^ static_cast<std::uint8_t>(byte)) & 0xff]) & 0xffff;
  }
  return static_cast<std::uint16_t>(crc);
}

std::uint16_t slot_of(std::string_view key) noexcept {
  if (const std::size_t open = key.find('{'); open != key.npos) {
    const std::size_t close = key.find('}', open + 1);
    if (close != key.npos && close > open + 1) key = key.substr(open + 1, close - open - 1);
  }
  return static_cast<std::uint16_t>(crc16(key) % kSlots);
}

}  // namespace penstock::store::redis
