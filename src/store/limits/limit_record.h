// What an engine keeps of one throttle key, as bytes: the capacity it was last judged by and the
// state. Pure; safe on any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "core/limits/limit.h"
#include "core/limits/state.h"
#include "store/limits/ports.h"

namespace penstock::store {

struct LimitRecord {
  std::int64_t capacity = 1;
  core::LimitState state;

  // That it was last judged by.
  core::Limit limit() const noexcept;
  KeyUse use(std::string_view key, Instant now) const;
};

std::string encode_record(const LimitRecord& record);
// Any bytes give a record or `corrupt`.
Result<LimitRecord> decode_record(std::string_view bytes);

}  // namespace penstock::store
