// The version of the layout of a data folder. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace penstock::store::embedded {

// The layout of the whole database, kept in the family `meta`. A change that an older binary would
// misread raises it.
inline constexpr std::uint32_t kSchemaVersion = 1;
inline constexpr std::string_view kSchemaKey = "schema_version";

std::string encode_schema(std::uint32_t version);
Result<std::uint32_t> decode_schema(std::string_view value);

}  // namespace penstock::store::embedded
