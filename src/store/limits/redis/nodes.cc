#include "store/limits/redis/nodes.h"

#include <array>

namespace penstock::store::redis {
namespace {

constexpr Millis kBeatDeadline{500};  // a beat that comes late is worth little

}  // namespace

Result<std::size_t> Nodes::beat(std::string_view node, Millis within) {
  const std::string micros = std::to_string(Micros{within}.count());
  const std::array<std::string_view, 1> keys = {name_};
  const std::array<std::string_view, 2> arguments = {node, micros};
  const Result<Reply> reply = client_.run_one(call_of(script("node_beat"), keys, arguments),
                                              runtime::Deadline(kBeatDeadline));
  if (!reply) return std::unexpected(reply.error());
  return static_cast<std::size_t>(reply->top().integer);
}

Result<void> Nodes::leave(std::string_view node) {
  const Result<Reply> reply =
      client_.run_one(command_of(name_, {"ZREM", name_, node}), runtime::Deadline(kBeatDeadline));
  if (!reply) return std::unexpected(reply.error());
  return {};
}

}  // namespace penstock::store::redis
