// Settings that are lists, or have a form of their own. In a variable a list is one
// text: its entries with commas between them, the parts of a rule with `+`. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/filter_keys.h"

namespace penstock::daemon {

// `10.0.0.0/8,2001:db8::/32`; empty text is an empty list. Nothing when an entry is no block.
std::optional<std::vector<wire::CidrBlock>> parse_address_blocks(std::string_view text);

// `ip,user+route`: 1 to 16 rules of the words ip, api-key, user and route, none twice in a rule.
std::optional<std::vector<wire::KeyRule>> parse_key_rules(std::string_view text);

// Entries that all pass `check`; empty text is an empty list. Nothing when one does not pass.
std::optional<std::vector<std::string>> parse_list(std::string_view text,
                                                   bool (*check)(std::string_view) noexcept);

// The same without the space that people put around the commas.
std::string tidy_list(std::string_view text);

bool is_header_name(std::string_view text) noexcept;

}  // namespace penstock::daemon
