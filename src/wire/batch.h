// The body of a batch route cut into its entries: a JSON array, or NDJSON with one value a line. An
// entry that is not JSON fails alone; a body that is no batch at all fails whole. And CSV by RFC
// 4180: commas, double quotes, doubled quotes and line breaks inside quotes. Total functions.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

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

// One row, line breaks only inside quotes; the error's `what` is a predicate.
Result<std::vector<std::string>> parse_csv_row(std::string_view text);

// Calls `row` for each row in order, with its fields or with what is wrong with it, until `row`
// gives false. Blank lines are passed over. A stray quote spoils its own line only: a row that
// cannot be read ends with its first line, and the next begins behind that.
void for_each_csv_row(std::string_view text,
                      const std::function<bool(const Result<std::vector<std::string>>&)>& row);

// Appends `field`, in quotes where it needs them.
void append_csv_field(std::string& out, std::string_view field);

}  // namespace penstock::wire
