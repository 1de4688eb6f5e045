// The bytes of the settings of item types. Pure; see encoding.h.
//
//   item_type  name, NUL, u64 ~version (newest version first)  -> kFormat time settings
//   meta       "item_type_revision"                            -> kFormat u64
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "store/queue/ports.h"

namespace penstock::store::embedded {

inline constexpr std::string_view kItemTypeRevisionKey = "item_type_revision";

std::string item_type_key(const ItemType& type);  // prefix of all versions of `type`
std::string item_type_key(const ItemType& type, std::int64_t version);
std::string encode_item_type(const ItemTypeRecord& record);
Result<ItemTypeRecord> decode_item_type(std::string_view key, std::string_view value);

std::string encode_item_type_revision(std::uint64_t revision);
Result<std::uint64_t> decode_item_type_revision(std::string_view value);

}  // namespace penstock::store::embedded
