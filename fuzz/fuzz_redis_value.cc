// store/limits/redis/value: any bytes give a record or `corrupt`; what was read is written and read
// again to the same record, and the core copes with it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "core/limits/decide.h"
#include "store/limits/redis/policies.h"
#include "store/limits/redis/value.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace penstock;
  using namespace penstock::store;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const Result<core::Policy> policy = redis::decode_policy(bytes); !policy) {
    PENSTOCK_CHECK(policy.error().kind == ErrorKind::corrupt);
  }
  Result<LimitRecord> record = redis::decode_value(bytes);
  if (!record) {
    PENSTOCK_CHECK(record.error().kind == ErrorKind::corrupt);
    return 0;
  }
  const Result<LimitRecord> again = redis::decode_value(redis::encode_value(*record));
  PENSTOCK_CHECK(again.has_value());
  PENSTOCK_CHECK(encode_record(*again) == encode_record(*record));
  const Instant now{Micros{record->state.last}};
  PENSTOCK_CHECK(core::idle_at(record->state) >= now);
  PENSTOCK_CHECK(core::used(record->state, now) >= 0);
  core::charge(record->limit(), record->state, 1, now);
  return 0;
}
