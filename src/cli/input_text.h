// Text that a command takes from its argument, a file or standard input. Blocks while it reads.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace penstock::cli {

// All of a file; "-" is standard input. More than `bytes_max` is `invalid`.
Result<std::string> read_whole(const std::string& path, std::size_t bytes_max);

// The text itself; `@FILE` and `-` stand for what is in there.
Result<std::string> text_argument(const std::string& text, std::size_t bytes_max);

}  // namespace penstock::cli
