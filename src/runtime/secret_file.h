// A secret kept in a file of its own, so that it stands in no command line and no config. The
// error's `what` is a sentence that names the file and nothing of its content.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace penstock::runtime {

struct SecretFile {
  std::string secret;  // never printed, never logged
  bool world_readable = false;
};

// A bearer token that this daemon asks for. White space around it is cut; what is left must be 16
// to 512 printable ASCII characters.
Result<SecretFile> read_token_file(const std::filesystem::path& path);
// The same for one that another server asks for, which has its own idea of length: 1 to 512.
Result<SecretFile> read_key_file(const std::filesystem::path& path);

// A password: one line of 1 to 512 bytes, taken as it is.
Result<SecretFile> read_password_file(const std::filesystem::path& path);

}  // namespace penstock::runtime
