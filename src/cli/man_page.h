// The manual page penstock(1) as roff, from the same tree as the help. Pure; safe on any thread.
#pragma once

#include <string>

#include "cli/command_tree.h"

namespace penstock::cli {

struct ManPageFacts {
  std::string version;
  std::string date;  // 2025-06-01
};

std::string man_page(const CommandNode& root, const ManPageFacts& facts);

// Text as roff shows it: no character of it is a command. `words` in back quotes are bold.
std::string roff_text(const std::string& text);

}  // namespace penstock::cli
