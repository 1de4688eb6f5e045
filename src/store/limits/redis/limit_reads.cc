// What people ask: one key, all keys, forget a key.
#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "core/limits/decide.h"
#include "store/limits/redis/limits.h"
#include "store/limits/redis/value.h"
#include "wire/resp_writer.h"

namespace penstock::store::redis {
namespace {

constexpr Millis kAskDeadline{2'000};     // people wait longer than decisions
constexpr Millis kSweepDeadline{10'000};  // over all keys
constexpr std::string_view kScanCount = "1000";

// `prefix` as a pattern that means itself, and anything behind.
std::string pattern_of(std::string_view prefix) {
  std::string pattern;
  for (const char c : prefix) {
    if (std::string_view("*?[]\\^-").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern + '*';
}

std::optional<KeyUse> use_of(std::string_view key, const wire::RespValue& value, Instant now) {
  if (value.type != wire::RespType::bulk) return std::nullopt;
  const Result<LimitRecord> record = decode_value(value.text);
  if (!record || core::idle(record->state, now)) return std::nullopt;
  return record->use(key, now);
}

}  // namespace

Result<bool> Limits::reset(std::string_view key) {
  const std::string name = decider_.name_of(key);
  const Reply reply = PENSTOCK_TRY(
      client_.run_one(command_of(name, {"UNLINK", name}), runtime::Deadline(kAskDeadline)));
  return reply.top().integer > 0;
}

Result<Instant> Limits::now_of(std::optional<Instant> now, const runtime::Deadline& deadline) {
  if (now) return *now;
  const Reply reply = PENSTOCK_TRY(client_.run_one(command_of(prefix_, {"TIME"}), deadline));
  std::int64_t parts[2] = {0, 0};
  const auto values = reply.flat();
  for (std::size_t i = 0; i < 2 && values.size() == 2; ++i) {
    std::from_chars(values[i].text.data(), values[i].text.data() + values[i].text.size(), parts[i]);
  }
  return Instant{Seconds{parts[0]}} + Micros{parts[1]};
}

Result<std::optional<KeyUse>> Limits::find(std::string_view key, std::optional<Instant> now) {
  const runtime::Deadline deadline(kAskDeadline);
  const Instant at = PENSTOCK_TRY(now_of(now, deadline));
  const std::string name = decider_.name_of(key);
  const Reply reply = PENSTOCK_TRY(client_.run_one(command_of(name, {"GET", name}), deadline));
  if (reply.top().type == wire::RespType::bulk) {
    PENSTOCK_TRY(decode_value(reply.top().text));
  }
  return use_of(key, reply.top(), at);
}

// The first `limit` keys after `after` that a sweep has met.
class Limits::Page {
 public:
  Page(std::string_view after, std::size_t limit, Instant now)
      : after_(after), limit_(limit), now_(now) {}

  bool wants(std::string_view key) const {
    if (key <= after_ || uses_.contains(key)) return false;
    return uses_.size() < limit_ || key < uses_.rbegin()->first;
  }
  void add(std::string_view key, const wire::RespValue& value) {
    std::optional<KeyUse> use = use_of(key, value, now_);
    if (!use || !wants(key)) return;
    uses_.emplace(key, std::move(*use));
    if (uses_.size() > limit_) uses_.erase(std::prev(uses_.end()));
  }
  std::vector<KeyUse> take() {
    std::vector<KeyUse> uses;
    for (auto& [key, use] : uses_) uses.push_back(std::move(use));
    return uses;
  }

 private:
  const std::string_view after_;
  const std::size_t limit_;
  const Instant now_;
  std::map<std::string, KeyUse, std::less<>> uses_;  // at most limit_
};

Result<std::vector<KeyUse>> Limits::list(std::string_view after, std::size_t limit,
                                         std::optional<Instant> now) {
  if (limit == 0) return std::vector<KeyUse>{};
  const runtime::Deadline deadline(kSweepDeadline);
  const Instant at = PENSTOCK_TRY(now_of(now, deadline));
  const std::vector<Endpoint> masters = PENSTOCK_TRY(client_.masters(deadline));
  Page page(after, limit, at);
  for (const Endpoint& master : masters) {
    PENSTOCK_TRY(sweep(master, page, deadline));
  }
  return page.take();
}

Result<void> Limits::sweep(const Endpoint& master, Page& page, const runtime::Deadline& deadline) {
  const std::string pattern = pattern_of(prefix_);
  std::string cursor = "0";
  do {
    if (deadline.passed()) return fail(ErrorKind::timeout, "redis: too many keys to list in time");
    std::string request;
    wire::append_resp_request(request, {"SCAN", cursor, "MATCH", pattern, "COUNT", kScanCount});
    const Reply reply = PENSTOCK_TRY(client_.run_at(master, request, deadline));
    const auto values = reply.values();
    if (values.size() < 3 || values[0].integer != 2 || !values[2].is_aggregate()) {
      return fail(ErrorKind::corrupt, "redis: the answer to SCAN is odd");
    }
    cursor = values[1].text;
    PENSTOCK_TRY(add_values(values.subspan(3), page, deadline));
  } while (cursor != "0");
  return {};
}

Result<void> Limits::add_values(std::span<const wire::RespValue> names, Page& page,
                                const runtime::Deadline& deadline) {
  std::vector<Command> commands;
  std::vector<std::string_view> keys;
  for (const wire::RespValue& name : names) {
    if (!name.text.starts_with(prefix_)) continue;
    const std::string_view key = name.text.substr(prefix_.size());
    if (!page.wants(key)) continue;
    keys.push_back(key);
    commands.push_back(command_of(name.text, {"GET", name.text}));
  }
  const std::vector<Result<Reply>> replies = client_.run(commands, deadline);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    if (replies[i]) {
      page.add(keys[i], replies[i]->top());
    } else if (replies[i].error().kind != ErrorKind::corrupt) {
      return std::unexpected(replies[i].error());  // WRONGTYPE is somebody else's key
    }
  }
  return {};
}

}  // namespace penstock::store::redis
