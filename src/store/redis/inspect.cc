#include "store/redis/inspect.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <memory>
#include <utility>

#include "engine/redis/connection.h"
#include "engine/redis/slots.h"
#include "store/redis/store.h"
#include "wire/resp_writer.h"

namespace penstock::store::redis {
namespace {

constexpr std::size_t kNodesMax = 100;  // of a cluster that people look at by this

std::uint64_t unsigned_of(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

Result<Reply> ask(Connection& connection, std::initializer_list<std::string_view> words,
                  const runtime::Deadline& deadline) {
  std::string request;
  wire::append_resp_request(request, words);
  PENSTOCK_TRY(plain(connection.send(request, deadline)));
  return plain(connection.receive(deadline));
}

// An error of the server is an error here.
Result<Reply> ask_for(Connection& connection, std::initializer_list<std::string_view> words,
                      const runtime::Deadline& deadline) {
  Result<Reply> reply = ask(connection, words, deadline);
  if (!reply || !reply->is_error()) return reply;
  return std::unexpected(translate(reply->top().text).error);
}

// Of HELLO, whose answer names what follows.
std::string value_after(const Reply& reply, std::string_view name) {
  const auto values = reply.values();
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    if (values[i].text == name) return std::string(values[i + 1].text);
  }
  return {};
}

Result<void> ask_clock(Connection& connection, NodeView& node, const Clock& local,
                       const runtime::Deadline& deadline) {
  const Instant before = local.now();
  const Reply time = PENSTOCK_TRY(ask_for(connection, {"TIME"}, deadline));
  const Instant after = local.now();
  const auto parts = time.flat();
  if (parts.size() != 2) return fail(ErrorKind::corrupt, "redis: TIME answers something else");
  node.clock = Instant{Seconds{static_cast<std::int64_t>(unsigned_of(parts[0].text))} +
                       Micros{static_cast<std::int64_t>(unsigned_of(parts[1].text))}};
  node.asked = before + (after - before) / 2;
  return {};
}

Result<NodeView> look_at(Connection& connection, const Endpoint& endpoint, const Clock& local,
                         const runtime::Deadline& deadline) {
  NodeView node{.address = endpoint.text()};
  const Reply hello = PENSTOCK_TRY(ask_for(connection, {"HELLO", "2"}, deadline));
  node.version = value_after(hello, "version");
  node.mode = value_after(hello, "mode");
  node.role = value_after(hello, "role");
  PENSTOCK_TRY(ask_clock(connection, node, local, deadline));
  const Reply script = PENSTOCK_TRY(ask(connection, {"EVAL", "return 1", "0"}, deadline));
  node.may_script = !script.is_error();
  const Result<Reply> memory = ask(connection, {"INFO", "memory"}, deadline);
  const Result<Reply> disk = ask(connection, {"INFO", "persistence"}, deadline);
  if (!memory || !disk) return std::unexpected(memory ? disk.error() : memory.error());
  if (!memory->is_error() && !disk->is_error()) {
    node.memory =
        parse_info(std::string(memory->top().text) + "\n" + std::string(disk->top().text));
  }
  return node;
}

Result<std::unique_ptr<Connection>> open(const ClientOptions& options, const Endpoint& endpoint,
                                         const runtime::Deadline& deadline) {
  return plain(Connection::open(options.connect, endpoint, deadline));
}

// All masters that any node names.
Result<std::vector<Endpoint>> masters_of(const ClientOptions& options, RedisView& view,
                                         const runtime::Deadline& deadline) {
  const Endpoint& asked = options.seeds.front();
  auto connection = PENSTOCK_TRY(open(options, asked, deadline));
  const Reply slots = PENSTOCK_TRY(ask_for(*connection, {"CLUSTER", "SLOTS"}, deadline));
  const std::optional<SlotMap> map = SlotMap::parse(slots.values(), asked.host);
  if (!map) {
    view.slots_without_node = kSlots;
    return std::vector<Endpoint>{asked};
  }
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    if (map->owner(slot) == nullptr) ++view.slots_without_node;
  }
  return std::vector<Endpoint>(map->masters().begin(), map->masters().end());
}

}  // namespace

MemoryView parse_info(std::string_view text) {
  MemoryView view;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = line.substr(colon + 1);
    if (name == "maxmemory_policy") view.eviction = value;
    if (name == "used_memory") view.bytes = unsigned_of(value);
    if (name == "maxmemory") view.bytes_max = unsigned_of(value);
    if (name == "aof_enabled") view.appends = value == "1";
  }
  return view;
}

Result<RedisView> inspect(const RedisOptions& options, const Clock& local,
                          const runtime::Deadline& deadline) {
  const ClientOptions client = PENSTOCK_TRY(client_options(options));
  RedisView view;
  std::vector<Endpoint> endpoints = client.seeds;
  if (client.cluster) {
    endpoints = PENSTOCK_TRY(masters_of(client, view, deadline));
  }
  for (const Endpoint& endpoint : endpoints) {
    if (view.nodes.size() == kNodesMax) break;
    auto connection = PENSTOCK_TRY(open(client, endpoint, deadline));
    NodeView node = PENSTOCK_TRY(look_at(*connection, endpoint, local, deadline));
    view.nodes.push_back(std::move(node));
  }
  return view;
}

}  // namespace penstock::store::redis
