// The body of a batch route cut into its entries: a JSON array, or NDJSON with one value a line. An
// entry that is not JSON fails alone; a body that is no batch at all fails whole.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "base/result.h"
#include "wire/json.h"

namespace penstock::wire {

inline constexpr std::size_t kBatchEntriesMax = 10'000;  // the API contract

enum class BatchFormat { json_array, ndjson };

// Calls `entry` for each one in order, with a value or with what is wrong with it. Blank NDJSON
// lines are passed over. Too many entries are `too_large`. `entry` may have been called before a
// failure is returned.
Result<void> for_each_entry(std::string_view body, BatchFormat format,
                            const std::function<void(const Result<JsonValue>&)>& entry);

// Never less than the entries that for_each_entry would call for, and cheap: separators are
// counted.
std::size_t entries_at_most(std::string_view body) noexcept;

}  // namespace penstock::wire
