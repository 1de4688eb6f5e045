// The commands of a session as its files share them: what they are, and how their errors are
// worded.
#pragma once

#include <string>
#include <string_view>

#include "front/resp/session.h"

namespace penstock::front {

// The version of Redis whose manners these are; clients choose by it what they may ask.
inline constexpr std::string_view kRedisVersion = "7.0.0";
inline constexpr std::size_t kShownBytesMax = 128;  // of an unknown command, as Redis
inline constexpr std::string_view kSyntaxError = "ERR syntax error";

// As COMMAND INFO shows it. A negative arity is a minimum.
struct RespSession::Command {
  std::string_view name;
  int arity;
  std::string_view flags;  // comma-separated
  int first_key;
  bool for_strangers;  // may be said before the password
  void (RespSession::*run)(Arguments, wire::RespWriter&);
  bool at_once = false;    // between MULTI and EXEC too
  bool verbose = false;    // its reply may be much longer than the request
  bool more_keys = false;  // all arguments from the first key on
};

inline std::string wrong_number(std::string_view command) {
  return "ERR wrong number of arguments for '" + std::string(command) + "' command";
}

// What a client may call itself, or its library: it is shown in lists of fields.
bool is_plain_word(std::string_view text) noexcept;

}  // namespace penstock::front
