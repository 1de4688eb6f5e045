// What Redis says is wrong, translated once, and what a client does about it. Pure.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/result.h"
#include "engine/redis/url.h"

namespace penstock::store::redis {

// What the sender of a command does next.
enum class Action : std::uint8_t {
  fail,         // hand the error to the caller
  move,         // the slot lies at another node: learn it and send there
  ask,          // this once, send to another node after ASKING
  wait,         // the node cannot now; the same may work in a moment
  refresh,      // the map of slots is not right any more: fetch it, then send again
  load_script,  // the node forgot the script: load it and send again
};

struct ServerError {
  Action action = Action::fail;
  Error error;             // for the caller, should nothing help
  Endpoint endpoint = {};  // of move and ask; an empty host means the node that answered
  std::uint16_t slot = 0;  // of move and ask
};

// `text` as Redis sends it, without the leading '-'. Nothing of it can hold a password: Redis
// quotes none.
ServerError translate(std::string_view text);

// A failure on the way to the server. `sent`: the command may have been executed.
struct ClientError {
  Error error;
  bool sent = false;
};

template <class T>
using ClientResult = std::expected<T, ClientError>;

// For who sends nothing again and need not know whether anything was sent.
template <class T>
Result<T> plain(ClientResult<T> result) {
  if (!result) return std::unexpected(std::move(result).error().error);
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return *std::move(result);
  }
}

std::unexpected<ClientError> cannot_reach(const Endpoint& endpoint, std::string_view problem);
std::unexpected<ClientError> connection_lost(const Endpoint& endpoint, std::string_view problem);
std::unexpected<ClientError> no_answer(const Endpoint& endpoint);  // before the deadline

}  // namespace penstock::store::redis
