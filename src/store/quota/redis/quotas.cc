#include "store/quota/redis/quotas.h"

#include <array>
#include <charconv>
#include <utility>

#include "wire/resp_writer.h"

namespace penstock::store::redis {
namespace {

// A config is changed within the deadline of the store, some seconds; should who changes it die
// meanwhile, its user is charged past the cache for so long.
constexpr std::string_view kBlockMillis = "5000";
// Far longer than a lease can be on its way.
constexpr std::string_view kForgottenMillis = "60000";
// Of one round trip: some 5 ms of a Redis, a tenth of the deadline.
constexpr std::size_t kCommandsMax = 256;

std::string text_of(std::int64_t number) { return std::to_string(number); }

std::int64_t number_of(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string epoch_text(std::string_view token) {
  return "-- " + std::string(token) + "\n" + std::string(script("gateway_quota").text);
}

// A call of the epoch's script. It names no script to load: one that is gone went with the data.
class Call {
 public:
  Call(const std::string& digest, core::UserId user, std::string_view op, std::int64_t epoch)
      : words_{"EVALSHA", digest, "2"} {
    words_.push_back("RateLimiterCache:" + text_of(user.raw));
    words_.push_back("{" + words_.back() + "}:forgotten");
    add(op).add(epoch);
  }

  Call& add(std::string_view word) {
    words_.emplace_back(word);
    return *this;
  }
  Call& add(std::int64_t number) { return add(text_of(number)); }

  Command command() const {
    Command command{.slot = slot_of(words_[3]), .request = {}};
    wire::RespWriter writer(command.request, wire::RespVersion::v2);
    writer.array(words_.size());
    for (const std::string& word : words_) writer.bulk(word);
    return command;
  }

 private:
  std::vector<std::string> words_;
};

Result<std::vector<Reply>> run_all(Client& client, std::span<const Command> commands,
                                   Millis deadline) {
  std::vector<Reply> replies;
  replies.reserve(commands.size());
  while (!commands.empty()) {
    const auto some = commands.first(std::min(commands.size(), kCommandsMax));
    for (Result<Reply>& reply : client.run(some, runtime::Deadline(deadline))) {
      if (!reply) {
        Error error = std::move(reply.error());
        if (error.what.starts_with("redis: NOSCRIPT")) {
          error.what = "redis has started anew, or another server took its place";
        }
        return std::unexpected(std::move(error));
      }
      replies.push_back(std::move(*reply));
    }
    commands = commands.subspan(some.size());
  }
  return replies;
}

std::unexpected<Error> not_ours() {
  return fail(ErrorKind::corrupt, "redis: an entry of the gateway's cache is not one of ours");
}

bool read_charge(const Reply& reply, std::optional<Instant> now, std::size_t costs,
                 CacheCharged& out) {
  constexpr std::size_t kHead = 6;
  const std::span<const wire::RespValue> values = reply.flat();
  if (values.empty()) return false;
  out.blocked = values[0].integer == 1;
  if (values[0].integer != 2) return true;
  if (values.size() < kHead || values.size() > kHead + costs) return false;
  const std::int64_t window = number_of(values[1].text);
  const Micros left = now ? Instant{Micros{number_of(values[2].text)}} - *now
                          : Micros{Millis{std::max<std::int64_t>(values[3].integer, 0)}};
  out.count = values[4].integer;
  out.version = values[5].integer;
  out.changed = out.version > 0;
  for (const wire::RespValue& value : values.subspan(kHead)) {
    const auto result = static_cast<ChargeResult>(value.integer);
    out.decided.push_back({.result = result,
                           .window = result == ChargeResult::charged ? window : 0,
                           .retry_after = result == ChargeResult::limited ? left : Micros::zero()});
  }
  return true;
}

}  // namespace

std::string Quotas::digest_for(const std::string& token) {
  const std::lock_guard lock(mutex_);
  if (digest_.empty() || token_ != token) {
    token_ = token;
    digest_ = digest_of(epoch_text(token));
  }
  return digest_;
}

Result<std::vector<CacheCharged>> Quotas::charge(const CacheKey& key,
                                                 std::span<const CacheCharge> charges,
                                                 std::optional<Instant> now) {
  const std::string digest = digest_for(key.token);
  std::vector<Command> commands;
  for (const CacheCharge& charge : charges) {
    Call call(digest, charge.user, "charge", key.epoch);
    call.add(now ? text_of(now->time_since_epoch().count()) : "");
    for (const std::int64_t cost : charge.costs) call.add(cost);
    commands.push_back(call.command());
  }
  const auto replies = PENSTOCK_TRY(run_all(client_, commands, deadline_));
  std::vector<CacheCharged> answers(charges.size());
  for (std::size_t i = 0; i < charges.size(); ++i) {
    if (!read_charge(replies[i], now, charges[i].costs.size(), answers[i])) return not_ours();
  }
  return answers;
}

Result<std::vector<bool>> Quotas::fill(const CacheKey& key, std::span<const QuotaLease> leases) {
  const std::string digest = digest_for(key.token);
  std::vector<Command> commands;
  for (const QuotaLease& lease : leases) {
    // Rounded up: an entry that goes before its window ends would take what is left of it along.
    const auto expiry = std::chrono::ceil<Millis>(lease.remaining);
    commands.push_back(Call(digest, lease.user, "fill", key.epoch)
                           .add(lease.window)
                           .add(lease.ends.time_since_epoch().count())
                           .add(lease.rate_limit)
                           .add(lease.from)
                           .add(lease.to)
                           .add(lease.full ? "1" : "0")
                           .add(lease.stamp)
                           .add(std::max<std::int64_t>(expiry.count(), 1))
                           .command());
  }
  const auto replies = PENSTOCK_TRY(run_all(client_, commands, deadline_));
  std::vector<bool> taken;
  for (const Reply& reply : replies) taken.push_back(reply.top().integer == 1);
  return taken;
}

Result<std::vector<CacheCount>> Quotas::give_back(const CacheKey& key,
                                                  std::span<const GiveBack> charges) {
  const std::string digest = digest_for(key.token);
  std::vector<Command> commands;
  for (const GiveBack& back : charges) {
    commands.push_back(
        Call(digest, back.user, "return", key.epoch).add(back.window).add(back.cost).command());
  }
  const auto replies = PENSTOCK_TRY(run_all(client_, commands, deadline_));
  std::vector<CacheCount> counts;
  for (const Reply& reply : replies) {
    const std::span<const wire::RespValue> values = reply.flat();
    if (values.size() != 1 && values.size() != 3) return not_ours();
    counts.push_back(
        values.size() == 1
            ? CacheCount{}
            : CacheCount{.there = true, .count = values[1].integer, .version = values[2].integer});
  }
  return counts;
}

Result<void> Quotas::forget(core::UserId user, std::optional<std::int64_t> window) {
  const std::string entry = "RateLimiterCache:" + text_of(user.raw);
  const std::string forgotten = "{" + entry + "}:forgotten";
  const std::array<std::string_view, 2> keys = {entry, forgotten};
  const std::string floor = window ? text_of(*window) : "all";
  const std::array<std::string_view, 2> arguments = {floor,
                                                     window ? kForgottenMillis : kBlockMillis};
  PENSTOCK_TRY(client_.run_one(call_of(script("gateway_forget"), keys, arguments),
                               runtime::Deadline(deadline_)));
  return {};
}

Result<void> Quotas::begin(std::string_view token) {
  std::string request;
  wire::append_resp_request(request, {"SCRIPT", "LOAD", epoch_text(token)});
  return client_.run_at_masters(request, runtime::Deadline(deadline_));
}

Result<void> Quotas::probe() {
  std::string request;
  wire::append_resp_request(request, {"PING"});
  return client_.run_at_masters(request, runtime::Deadline(deadline_));
}

}  // namespace penstock::store::redis
