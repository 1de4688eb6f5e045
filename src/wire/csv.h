// CSV by RFC 4180: commas, double quotes, doubled quotes and line breaks inside quotes. Total
// functions over texts in memory.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace penstock::wire {

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
