// The one table of settings. A row binds a member of Config (base/describe.h) to its name in the
// file; the range, the choices, the help and how it is written stand in the row, the default is the
// member's own. The readers, the flags, the defaults and docs/configuration.md are loops over it: a
// new setting is one row here and one member of Config.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "daemon/config/config.h"
#include "daemon/config/values.h"
#include "runtime/secret_file.h"

namespace penstock::daemon {

using ReadSecret = Result<runtime::SecretFile> (*)(const std::filesystem::path& file);
using SecretIn = std::string& (*)(Config& config);

struct Key {
  FieldInfo field;  // its name is the path in the file: "http.listen"
  const Form* form = nullptr;
  void* (*record)(Config& config) = nullptr;  // the record that has the field
  std::string_view flag = {};                 // of serve and check-config: "--http"; empty = none
  bool has_default = true;                    // else the member's own value stands for "not set"
  bool readable = false;  // names a file that must be readable when the daemon starts
  // Of a file whose content is a secret of Config.
  ReadSecret read_secret = nullptr;
  SecretIn secret = nullptr;
  std::string_view used_with = {};  // while this key is not set, nothing uses the secret

  // How the table writes what is special about a row.
  consteval Key within(std::int64_t min, std::int64_t max) const {
    Key key = *this;
    key.field = range(field, min, max);
    return key;
  }
  consteval Key choices(std::span<const std::string_view> names) const {
    Key key = *this;
    key.field.choices = names;
    return key;
  }
  consteval Key first(std::size_t count) const { return choices(field.choices.first(count)); }
  consteval Key with_flag(std::string_view name) const {
    Key key = *this;
    key.flag = name;
    return key;
  }
  consteval Key unset() const {
    Key key = *this;
    key.has_default = false;
    return key;
  }
  consteval Key must_be_readable() const {
    Key key = *this;
    key.readable = true;
    return key;
  }
  consteval Key holding(ReadSecret read, std::string_view with, SecretIn place) const {
    Key key = *this;
    key.read_secret = read;
    key.secret = place;
    key.used_with = with;
    return key;
  }

  std::string_view path() const noexcept { return field.name; }
  FieldValue default_value() const;  // monostate = not set
  Result<FieldValue> parse(std::string_view text) const { return parse_value(field, *form, text); }
  std::string format(const FieldValue& value) const { return format_value(*form, value); }
  std::string words() const { return words_for(field, *form); }
};

// Grouped by section, in the order of the reference.
std::span<const Key> keys();

// Null when there is no such key.
const Key* find_key(std::string_view path);
const Key* find_key_by_environment_name(std::string_view name);

// The first key below `path` ("http", "http.tls"); null when that is no section.
const Key* first_key_below(std::string_view path);

// All keys and sections, for suggestions.
std::vector<std::string_view> known_paths();

// "http.listen" -> "PENSTOCK_HTTP_LISTEN"
std::string environment_name(std::string_view path);

// The table as markdown, for docs/configuration.md.
std::string reference_markdown();

}  // namespace penstock::daemon
