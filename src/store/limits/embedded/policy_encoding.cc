#include "store/limits/embedded/policy_encoding.h"

#include <limits>
#include <utility>

#include "core/policy/policy_rules.h"
#include "engine/rocksdb/bytes.h"

namespace penstock::store::embedded {
namespace {

std::int64_t take_signed(ByteReader& reader) {
  return static_cast<std::int64_t>(reader.number<std::uint64_t>());
}

bool take_flag(ByteReader& reader) {
  const auto byte = reader.number<std::uint8_t>();
  if (byte > 1) reader.refuse("has a flag that is neither set nor clear");
  return byte == 1;
}

template <class Enum>
Enum take_enum(ByteReader& reader, Enum last) {
  const auto byte = reader.number<std::uint8_t>();
  if (byte <= static_cast<std::uint8_t>(last)) return static_cast<Enum>(byte);
  reader.refuse("has a word this version does not know");
  return last;
}

}  // namespace

std::string policy_record_key(std::string_view policy_key) {
  return std::string(policy_key) + '\0';
}

std::string policy_record_key(std::string_view policy_key, std::int64_t version) {
  std::string out = policy_record_key(policy_key);
  put_number(out, ~static_cast<std::uint64_t>(version));
  return out;
}

std::string encode_policy(const core::Policy& policy) {
  const core::PolicyDraft& draft = policy.draft;
  std::string out;
  put_number(out, kFormat);
  put_signed(out, policy.id);
  put_number(out, static_cast<std::uint8_t>(policy.deleted));
  put_micros(out, policy.changed);
  put_number(out, static_cast<std::uint8_t>(draft.limit.type));
  put_signed(out, draft.limit.capacity);
  put_signed(out, draft.limit.refill.tokens);
  put_signed(out, draft.limit.refill.micros);
  put_signed(out, draft.limit.window.count());
  put_number(out, static_cast<std::uint8_t>(draft.shadow));
  put_number(out, static_cast<std::uint8_t>(draft.on_store_failure));
  put_text(out, draft.refill_text);
  return out;
}

Result<core::Policy> decode_policy(std::string_view key, std::string_view value) {
  core::Policy policy;
  core::PolicyDraft& draft = policy.draft;
  ByteReader key_reader("the key of a policy", key);
  draft.key = key_reader.text_to_nul();
  const std::uint64_t version = ~key_reader.number<std::uint64_t>();
  if (version == 0 || version > kVersionMax) key_reader.refuse("has a version out of range");
  policy.version = static_cast<std::int64_t>(version);
  if (Result<int> end = key_reader.done(0); !end) return std::unexpected(std::move(end.error()));

  ByteReader reader("the policy record", value);
  reader.format();
  policy.id = take_signed(reader);
  if (policy.id < 1) reader.refuse("has an id out of range");
  policy.deleted = take_flag(reader);
  policy.changed = reader.micros();
  draft.limit.type = take_enum(reader, core::LimitType::fixed_window);
  draft.limit.capacity = take_signed(reader);
  draft.limit.refill.tokens = take_signed(reader);
  draft.limit.refill.micros = take_signed(reader);
  draft.limit.window = Seconds{take_signed(reader)};
  draft.shadow = take_flag(reader);
  draft.on_store_failure = take_enum(reader, core::OnStoreFailure::local);
  draft.refill_text = reader.text();
  if (!core::validate(draft)) reader.refuse("breaks a rule of policies");
  return reader.done(std::move(policy));
}

std::string encode_revision(std::uint64_t revision) {
  std::string out;
  put_number(out, kFormat);
  put_number(out, revision);
  return out;
}

Result<std::uint64_t> decode_revision(std::string_view value) {
  ByteReader reader("the revision of the policies", value);
  reader.format();
  const auto revision = reader.number<std::uint64_t>();
  return reader.done(revision);
}

}  // namespace penstock::store::embedded
