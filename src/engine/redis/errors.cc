#include "engine/redis/errors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "engine/redis/slots.h"

namespace penstock::store::redis {
namespace {

struct Row {
  std::string_view code;
  Action action;
  ErrorKind kind;
};

constexpr std::array<Row, 14> kCodes = {{
    {"NOSCRIPT", Action::load_script, ErrorKind::unavailable},
    {"TRYAGAIN", Action::wait, ErrorKind::unavailable},  // keys of a slot that is on the move
    {"LOADING", Action::wait, ErrorKind::unavailable},   // reads its file after a start
    {"CLUSTERDOWN", Action::refresh, ErrorKind::unavailable},
    {"READONLY", Action::refresh, ErrorKind::unavailable},  // a master that became a replica
    {"MASTERDOWN", Action::refresh, ErrorKind::unavailable},
    {"NOREPLICAS", Action::fail, ErrorKind::unavailable},
    {"MISCONF", Action::fail, ErrorKind::unavailable},  // cannot write its file
    {"OOM", Action::fail, ErrorKind::overloaded},
    {"BUSY", Action::fail, ErrorKind::overloaded},    // somebody's script does not end
    {"WRONGTYPE", Action::fail, ErrorKind::corrupt},  // the key is not one of ours
    {"NOAUTH", Action::fail, ErrorKind::unavailable},
    {"WRONGPASS", Action::fail, ErrorKind::unavailable},
    {"NOPERM", Action::fail, ErrorKind::unavailable},
}};

constexpr std::size_t kQuotedMax = 200;

std::string quoted(std::string_view text) {
  std::string out(text.substr(0, kQuotedMax));
  std::ranges::replace_if(out, [](char c) { return c >= 0 && c < ' '; }, ' ');
  return out;
}

// "MOVED 3999 127.0.0.1:6381"
bool parse_redirection(std::string_view text, ServerError& out) {
  const std::size_t first = text.find(' ');
  const std::size_t second = text.find(' ', first + 1);
  if (first == text.npos || second == text.npos) return false;
  unsigned slot = 0;
  const char* const end = text.data() + second;
  const auto [stop, problem] = std::from_chars(text.data() + first + 1, end, slot);
  if (problem != std::errc{} || stop != end || slot >= kSlots) return false;
  out.slot = static_cast<std::uint16_t>(slot);
  return parse_endpoint(text.substr(second + 1), out.endpoint);
}

}  // namespace

ServerError translate(std::string_view text) {
  const std::string_view code = text.substr(0, text.find(' '));
  ServerError out{.error = {.kind = ErrorKind::unavailable, .what = "redis: " + quoted(text)}};
  if (code == "MOVED" || code == "ASK") {
    if (parse_redirection(text, out)) out.action = code == "ASK" ? Action::ask : Action::move;
    return out;
  }
  const auto row = std::ranges::find(kCodes, code, &Row::code);
  if (row != kCodes.end()) {
    out.action = row->action;
    out.error.kind = row->kind;
  }
  return out;
}

std::unexpected<ClientError> cannot_reach(const Endpoint& endpoint, std::string_view problem) {
  return std::unexpected(
      ClientError{.error = {.kind = ErrorKind::unavailable,
                            .what = "redis at " + endpoint.text() +
                                    " cannot be reached: " + std::string(problem)}});
}

std::unexpected<ClientError> connection_lost(const Endpoint& endpoint, std::string_view problem) {
  return std::unexpected(
      ClientError{.error = {.kind = ErrorKind::unavailable,
                            .what = "connection to redis at " + endpoint.text() +
                                    " lost, the outcome is unknown: " + std::string(problem)},
                  .sent = true});
}

std::unexpected<ClientError> no_answer(const Endpoint& endpoint) {
  return std::unexpected(ClientError{
      .error = {.kind = ErrorKind::timeout,
                .what = "redis at " + endpoint.text() + " did not answer before the deadline"},
      .sent = true});
}

}  // namespace penstock::store::redis
