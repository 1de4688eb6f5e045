#include "engine/redis/slots.h"

#include <algorithm>
#include <array>

namespace penstock::store::redis {
namespace {

using wire::RespType;
using wire::RespValue;

constexpr std::size_t kMastersMax = 1'000;  // what Redis itself recommends as the most

struct Range {
  std::size_t first = 0;
  std::size_t last = 0;
  Endpoint master;
};

// [first, last, [host, port, id, …], replicas…]
std::optional<Range> parse_range(std::span<const RespValue> values, std::string_view asked) {
  if (values.size() < 6 || values[0].type != RespType::array || values[0].integer < 3 ||
      values[1].type != RespType::integer || values[2].type != RespType::integer ||
      values[3].type != RespType::array || values[3].integer < 2 ||
      values[5].type != RespType::integer) {
    return std::nullopt;
  }
  const std::int64_t first = values[1].integer;
  const std::int64_t last = values[2].integer;
  const std::int64_t port = values[5].integer;
  if (first < 0 || last < first || last >= static_cast<std::int64_t>(kSlots) || port < 1 ||
      port > 65'535) {
    return std::nullopt;
  }
  const bool named =
      values[4].type == RespType::bulk && !values[4].text.empty() && values[4].text != "?";
  return Range{.first = static_cast<std::size_t>(first),
               .last = static_cast<std::size_t>(last),
               .master = {.host = std::string(named ? values[4].text : asked),
                          .port = static_cast<int>(port)}};
}

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

SlotMap::SlotMap(Endpoint only) : masters_{std::move(only)} { owners_.fill(0); }

std::optional<SlotMap> SlotMap::parse(std::span<const RespValue> reply, std::string_view asked) {
  if (reply.empty() || reply[0].type != RespType::array) return std::nullopt;
  SlotMap map;
  for (std::size_t at = 1; at < reply.size(); at += reply[at].next) {
    const std::optional<Range> range = parse_range(reply.subspan(at, reply[at].next), asked);
    if (!range || map.masters_.size() == kMastersMax) return std::nullopt;
    const std::uint16_t index = map.index_of(range->master);
    for (std::size_t slot = range->first; slot <= range->last; ++slot) map.owners_[slot] = index;
  }
  if (map.masters_.empty()) return std::nullopt;
  return map;
}

const Endpoint* SlotMap::owner(std::size_t slot) const noexcept {
  const std::uint16_t index = owners_[slot];
  return index == kNobody ? nullptr : &masters_[index];
}

void SlotMap::set(std::size_t slot, const Endpoint& endpoint) {
  owners_[slot] = index_of(endpoint);
}

std::uint16_t SlotMap::index_of(const Endpoint& endpoint) {
  const auto found = std::ranges::find(masters_, endpoint);
  if (found != masters_.end()) return static_cast<std::uint16_t>(found - masters_.begin());
  masters_.push_back(endpoint);
  return static_cast<std::uint16_t>(masters_.size() - 1);
}

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
