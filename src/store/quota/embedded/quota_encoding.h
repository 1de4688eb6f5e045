// The bytes of quotas, idempotency keys, usage and deliveries; as encoding.h for the rest. Pure.
//
//   gateway_quota  u32 user                      -> kFormat quota, the minute of the last message
//                                                   and what was sent in it
//   gateway_log    'k', u32 user, key            -> kFormat time, digest, message id
//                  'K', time us, u32 user, key   -> kFormat: what to forget, and when
//                  'p', u32 user, key            -> kFormat time, u8 left, digest, message id: a
//                                                   claim of who publishes outside of the store
//                  'u', u32 user, minute us      -> kFormat sent, limited, failed
//                  'U', minute us, u32 user      -> kFormat limited: by time, for all users
//                  'd', provider NUL reference   -> kFormat written, message, part, parts, state,
//                                                   its time?, detail
//                  'm', message id NUL provider NUL reference  -> kFormat
//                  'P', written us, provider NUL reference     -> kFormat: what to forget, and when
//                  'x', name of an export        -> kFormat minute
//                  'a': attempts.cc
//
// What was sent in the running minute stands in the quota, which every message writes anyway; it
// moves to gateway_log with the first message of another minute.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "store/quota/ports.h"

namespace penstock::store::embedded {

struct QuotaRecord {
  Quota quota;
  Instant minute{};       // of the last message
  std::int64_t sent = 0;  // in that minute; 0 = nothing that has not moved
};

struct KeyRecord {
  Instant at{};
  core::BodyDigest digest{};
  ItemId id;
};

struct KeyClaimRecord {
  Instant at{};
  bool left = false;  // its owner said so
  core::BodyDigest digest{};
  ItemId id;
};

struct KeyPlace {
  Instant at{};
  UserId user;
  std::string key;
};

struct UsagePlace {
  UserId user;
  Instant minute{};
};

std::string quota_key(UserId user);
Result<UserId> decode_quota_key(std::string_view key);
std::string encode_quota(const QuotaRecord& record);
Result<QuotaRecord> decode_quota(std::string_view value);

std::string send_key(UserId user, std::string_view key);
std::string encode_key(const KeyRecord& record);
Result<KeyRecord> decode_key(std::string_view value);

inline constexpr char kKeyClaimTag = 'p';
std::string key_claim_key(UserId user, std::string_view key);
std::string encode_key_claim(const KeyClaimRecord& record);
Result<KeyClaimRecord> decode_key_claim(std::string_view value);

inline constexpr char kKeyTimeTag = 'K';
inline constexpr char kUsageTimeTag = 'U';
std::string key_time_key(Instant at, UserId user, std::string_view key);
Result<KeyPlace> decode_key_time_key(std::string_view key);

std::string usage_key(UserId user, Instant minute);
Result<UsagePlace> decode_usage_key(std::string_view key);
std::string encode_usage(const UsageCounts& counts);
Result<UsageCounts> decode_usage(std::string_view value);

std::string usage_time_key(Instant minute);
std::string usage_time_key(Instant minute, UserId user);
Result<UsagePlace> decode_usage_time_key(std::string_view key);
std::string encode_limited(std::int64_t limited);
Result<std::int64_t> decode_limited(std::string_view value);

// What providers say of messages, in parts; and how far an export is.
struct PartRecord {
  Instant written{};
  ItemId message;  // empty = only a report came so far
  core::DeliveryPart part;
};

std::string part_key(const PartName& name);
std::string encode_part(const PartRecord& record);
Result<PartRecord> decode_part(std::string_view value);

std::string message_parts_key(const ItemId& message);  // the begin of all of its parts
std::string message_part_key(const ItemId& message, const PartName& name);
Result<PartName> decode_message_part_key(std::string_view key);

inline constexpr char kPartTimeTag = 'P';
struct PartTime {
  Instant written{};
  PartName name;
};
std::string part_time_key(Instant written);  // all that was written before
std::string part_time_key(Instant written, const PartName& name);
Result<PartTime> decode_part_time_key(std::string_view key);

std::string export_key(std::string_view name);
std::string encode_export(Instant done_to);
Result<Instant> decode_export(std::string_view value);

}  // namespace penstock::store::embedded
