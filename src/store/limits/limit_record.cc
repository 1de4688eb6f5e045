#include "store/limits/limit_record.h"

#include <optional>
#include <utility>

#include "core/limits/decide.h"
#include "core/limits/state.h"

namespace penstock::store {

core::Limit LimitRecord::limit() const noexcept {
  return {.type = state.type,
          .capacity = capacity,
          .refill = core::is_bucket(state.type) ? state.bucket.rate : core::Rate{},
          .window = Seconds{state.window_seconds}};
}

KeyUse LimitRecord::use(std::string_view key, Instant now) const {
  return {.key = std::string(key),
          .limit = limit(),
          .used = core::used(state, now),
          .window_count = core::window_count(state, now)};
}

std::string encode_record(const LimitRecord& record) {
  std::string bytes;
  core::put_number(static_cast<std::uint64_t>(record.capacity), bytes);
  core::encode_state(record.state, bytes);
  return bytes;
}

Result<LimitRecord> decode_record(std::string_view bytes) {
  const std::optional<std::uint64_t> capacity = core::take_number(bytes);
  if (!capacity || *capacity < 1 || *capacity > static_cast<std::uint64_t>(core::kCapacityMax)) {
    return fail(ErrorKind::corrupt, "limit record: bad capacity");
  }
  core::LimitState state = PENSTOCK_TRY(core::decode_state(bytes));
  return LimitRecord{.capacity = static_cast<std::int64_t>(*capacity), .state = std::move(state)};
}

}  // namespace penstock::store
