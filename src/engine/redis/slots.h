// Which of the 16,384 slots of a Redis Cluster a key lies in, and which master holds which slot.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/redis/url.h"
#include "wire/resp_reply.h"

namespace penstock::store::redis {

inline constexpr std::size_t kSlots = 16'384;

// CRC16 of the XMODEM kind: polynomial 0x1021, starting from 0.
std::uint16_t crc16(std::string_view bytes) noexcept;

// Of the part between the first { and the next } if there is something in between; else of all.
std::uint16_t slot_of(std::string_view key) noexcept;

// Immutable once it is shared.
class SlotMap {
 public:
  SlotMap() { owners_.fill(kNobody); }
  // A server that is not a cluster: every slot is its own.
  explicit SlotMap(Endpoint only);

  // The reply to CLUSTER SLOTS, asked of a node at `asked`, which stands for hosts left out.
  // Nothing when it is not such a reply or names no node.
  static std::optional<SlotMap> parse(std::span<const wire::RespValue> reply,
                                      std::string_view asked);

  const Endpoint* owner(std::size_t slot) const noexcept;  // null: not known
  void set(std::size_t slot, const Endpoint& endpoint);
  std::span<const Endpoint> masters() const noexcept { return masters_; }

 private:
  static constexpr std::uint16_t kNobody = 0xffff;

  std::uint16_t index_of(const Endpoint& endpoint);

  std::vector<Endpoint> masters_;
  std::array<std::uint16_t, kSlots> owners_;
};

}  // namespace penstock::store::redis
