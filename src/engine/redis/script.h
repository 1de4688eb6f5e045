// The .lua files of all capabilities on Redis, as the build embedded them (tools/embed_texts.py),
// with the digests that Redis knows them by.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace penstock::store::redis {

struct LuaFile {
  const char* name;  // the file's name without ".lua"
  const char* text;
};

std::span<const LuaFile> embedded_scripts() noexcept;  // lua/, ordered by name

struct Script {
  std::string_view name;
  std::string_view text;
  std::string digest;  // SHA-1 in hexadecimal
};

// SHA-1 in hexadecimal: by this Redis knows a script of that text.
std::string digest_of(std::string_view text);

// One of embedded_scripts(); a name that is not there is our own bug. Lives for ever.
const Script& script(std::string_view name) noexcept;

}  // namespace penstock::store::redis
