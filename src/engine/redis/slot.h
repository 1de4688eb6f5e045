// Which of the 16,384 slots of a Redis Cluster a key lies in. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace penstock::store::redis {

inline constexpr std::size_t kSlots = 16'384;

// CRC16 of the XMODEM kind: polynomial 0x1021, starting from 0.
std::uint16_t crc16(std::string_view bytes) noexcept;

// Of the part between the first { and the next } if there is something in between; else of all.
std::uint16_t slot_of(std::string_view key) noexcept;

}  // namespace penstock::store::redis
