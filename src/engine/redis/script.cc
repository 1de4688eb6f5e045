#include "engine/redis/script.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/check.h"

namespace penstock::store::redis {

std::string digest_of(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  PENSTOCK_CHECK(EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr) ==
                 1);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (unsigned i = 0; i < size; ++i) {
    out += kDigits[digest[i] >> 4];
    out += kDigits[digest[i] & 15];
  }
  return out;
}

const Script& script(std::string_view name) noexcept {
  static const std::vector<Script> all = [] {
    std::vector<Script> scripts;
    for (const LuaFile& file : embedded_scripts()) {
      scripts.push_back({.name = file.name, .text = file.text, .digest = digest_of(file.text)});
    }
    return scripts;
  }();
  const auto found = std::ranges::find(all, name, &Script::name);
  PENSTOCK_CHECK(found != all.end());
  return *found;
}

}  // namespace penstock::store::redis
