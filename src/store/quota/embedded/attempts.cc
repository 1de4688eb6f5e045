// In the family of the gateway's log (quota_encoding.h), with a tag of its own:
//
//   gateway_log  'a', time us, u64 number  -> kFormat u32 user, u8 outcome, message id, text
#include "store/quota/embedded/quota.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "engine/rocksdb/bytes.h"
#include "engine/rocksdb/records.h"

namespace penstock::store::embedded {
namespace {

constexpr char kTag = 'a';
constexpr Family kAttemptFamily = Family::gateway_log;

std::string key_of(const AttemptMark& mark) {
  std::string out(1, kTag);
  put_sorted_micros(out, mark.at);
  put_number(out, static_cast<std::uint64_t>(mark.number));
  return out;
}

}  // namespace

void lay_out(auto& io, Is<Attempt> auto& attempt) {
  io.format();
  io.count(attempt.user.raw);
  io.choice(attempt.outcome, static_cast<std::size_t>(AttemptOutcome::failed) + 1);
  io.maybe_id(attempt.message);
  io.long_text(attempt.text);
}

namespace {

Result<Attempt> decode(std::string_view key, std::string_view value) {
  ByteReader place("the key of an attempt", key);
  place.tag(kTag);
  AttemptMark mark;
  mark.at = place.sorted_micros();
  mark.number = static_cast<std::int64_t>(place.number<std::uint64_t>());
  PENSTOCK_TRY(place.done(0));
  Attempt attempt = PENSTOCK_TRY(decoded<Attempt>("the record of an attempt", value));
  attempt.mark = mark;
  return attempt;
}

}  // namespace

Result<void> EmbeddedAttempts::append(std::span<const Attempt> attempts) {
  if (attempts.empty()) return {};
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  Changes changes(view);
  for (const Attempt& attempt : attempts) {
    changes.put(kAttemptFamily, key_of(attempt.mark), encoded(attempt));
  }
  return changes.commit(writer_.engine);
}

Result<std::vector<Attempt>> EmbeddedAttempts::page(Instant from, Instant to,
                                                    std::optional<AttemptMark> after,
                                                    std::size_t limit) {
  const Engine::View view = PENSTOCK_TRY(writer_.engine.view());
  std::vector<Attempt> out;
  AttemptMark begin{.at = from, .number = 0};
  if (after) begin = std::max(begin, *after);
  if (begin.at >= to) return out;
  Cursor rows(view, kAttemptFamily, key_of(begin), key_of({.at = to, .number = 0}));
  for (; PENSTOCK_TRY(rows.more()); rows.next()) {
    if (out.size() == limit) break;
    Attempt attempt = PENSTOCK_TRY(view.in_folder(decode(rows.key(), rows.value())));
    if (after && attempt.mark <= *after) continue;
    out.push_back(std::move(attempt));
  }
  return out;
}

Result<std::size_t> EmbeddedAttempts::forget_attempts(Instant before, std::size_t limit) {
  const auto [lock, view] = PENSTOCK_TRY(writer_.turn());
  Changes changes(view);
  std::size_t gone = 0;
  Cursor rows(view, kAttemptFamily, std::string(1, kTag), key_of({.at = before, .number = 0}));
  for (; PENSTOCK_TRY(rows.more()); rows.next(), ++gone) {
    if (gone == limit) break;
    changes.remove(kAttemptFamily, rows.key());
  }
  PENSTOCK_TRY(changes.commit(writer_.engine));
  return gone;
}

}  // namespace penstock::store::embedded
