// Names that callers choose (event, config, pool, item, item type, payment): 1 to 128 printable
// ASCII characters, no spaces. Each kind is its own type, so that an event id cannot be passed
// where a pool is meant.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/result.h"

namespace penstock {

inline constexpr std::size_t kIdBytesMax = 128;  // the API contract

// Empty when `text` is a well-formed id, else what is wrong with it.
std::string_view id_problem(std::string_view text) noexcept;

struct ItemTypeTag;

template <class Tag>
class Id {
 public:
  Id() = default;  // the empty id: "none"; parse() never gives it

  // `field` is the JSON name that an error should carry.
  static Result<Id> parse(std::string_view field, std::string_view text) {
    if (const std::string_view problem = id_problem(text); !problem.empty()) {
      return invalid_field(field, problem);
    }
    // `{itemType}:{itemId}` is the idempotency key of a hand-over: two items must never share one.
    if (std::is_same_v<Tag, ItemTypeTag> && text.find(':') != text.npos) {
      return invalid_field(field, "must not contain ':'");
    }
    return Id(std::string(text));
  }

  // For text that we wrote ourselves (stores, tests): no check.
  static Id trusted(std::string text) { return Id(std::move(text)); }

  const std::string& str() const noexcept { return text_; }
  bool empty() const noexcept { return text_.empty(); }

  friend bool operator==(const Id&, const Id&) = default;
  friend auto operator<=>(const Id&, const Id&) = default;

 private:
  explicit Id(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

using EventId = Id<struct EventIdTag>;
using ConfigName = Id<struct ConfigNameTag>;
using PoolName = Id<struct PoolNameTag>;
using ItemId = Id<struct ItemIdTag>;
using ItemType = Id<ItemTypeTag>;
using PaymentId = Id<struct PaymentIdTag>;

}  // namespace penstock

template <class Tag>
struct std::hash<penstock::Id<Tag>> {
  std::size_t operator()(const penstock::Id<Tag>& id) const noexcept {
    return std::hash<std::string>{}(id.str());
  }
};
