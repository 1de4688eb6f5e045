// How people write the value of a setting, in a file, an environment variable or a flag, and what
// they are told when it is wrong. Pure; safe on any thread.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/ids.h"
#include "base/result.h"
#include "wire/filter_keys.h"
#include "wire/listen_address.h"

namespace penstock::daemon {

// A way to write values. Ranges and choices are the field's own.
struct Form {
  std::string_view words = {};            // after "must be": "a path"
  std::string_view brief = {};            // in the reference, when that is shorter
  std::string_view value_name = "VALUE";  // in --help
  // An error without a sentence is told `words`.
  Result<FieldValue> (*parse)(std::string_view text) = nullptr;
  std::string (*format)(const FieldValue& value) = nullptr;  // null = as it is
  bool list = false;    // a file may write it as a list; elsewhere it is one text with commas
  bool hidden = false;  // may hold a password: a mistake is not repeated to people
};

extern const Form kBoolean;     // true, false
extern const Form kCount;       // whole number
extern const Form kBytes;       // 1048576, 64KiB, 16MiB, 1GiB
extern const Form kDuration;    // ISO-8601: PT10S, P1D
extern const Form kChoice;      // one word of the field's choices
extern const Form kPath;        // file or folder, as given
extern const Form kConnection;  // where a server is, maybe with a password, which is never shown
extern const Form kName;        // 1 to 128 printable characters
extern const Form kListen;      // ADDR:PORT
extern const Form kDecimal;     // positive, kept as it is written
extern const Form kHeader;      // the name of a header field
extern const Form kBlocks;      // list of addresses and networks
extern const Form kKeyRules;    // list of lists of words: what a throttle key is made of
extern const Form kTopics;      // list of topic=ITEM_TYPE
extern const Form kHosts;       // list of names and addresses, with or without a port
extern const Form kOrigins;     // list of scheme://host[:port]

// Of an integer without an upper bound.
inline constexpr std::int64_t kNoMax = std::numeric_limits<std::int64_t>::max();

// The error's `what` is a predicate: "must be …, not …".
Result<FieldValue> parse_value(const FieldInfo& field, const Form& form, std::string_view text);

// As one would write it in the file: `16KiB`, `PT10S`; empty when not set. Passwords as `***`.
std::string format_value(const Form& form, const FieldValue& value);

// What may stand there, in words: "an ISO-8601 duration (PT0.5S, PT10S, P1D) from PT0.1S to PT1H".
std::string words_for(const FieldInfo& field, const Form& form);
std::string brief_words_for(const FieldInfo& field, const Form& form);  // "duration from PT0.1S …"

std::string value_name_for(const FieldInfo& field, const Form& form);  // "PATH", "text|json"

// A URI or keyword string with `***` for every password in it.
std::string without_password(std::string_view connection);

// `a, b` -> a and b; empty text is an empty list.
std::vector<std::string> split_list(std::string_view text);

// Addresses and networks. Nothing when an entry is neither.
std::optional<std::vector<wire::CidrBlock>> parse_address_blocks(
    const std::vector<std::string>& entries);
std::vector<std::string> format_address_blocks(const std::vector<wire::CidrBlock>& blocks);

// 1 to 16 rules such as `user+route`, of the words ip, api-key, user and route, none twice in a
// rule.
std::optional<std::vector<wire::KeyRule>> parse_key_rules(const std::vector<std::string>& entries);
std::vector<std::string> format_key_rules(const std::vector<wire::KeyRule>& rules);

// 1 to 64 pairs such as `payments=PAYMENT`, each topic once.
std::optional<std::map<std::string, ItemType>> parse_intake_topics(
    const std::vector<std::string>& entries);
std::vector<std::string> format_intake_topics(const std::map<std::string, ItemType>& topics);

// Whether Kafka takes it for the name of a topic.
bool is_topic(std::string_view text) noexcept;

bool is_header_name(std::string_view text) noexcept;

}  // namespace penstock::daemon
