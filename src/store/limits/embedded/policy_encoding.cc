#include "store/limits/embedded/policy_encoding.h"

#include <utility>

#include "engine/rocksdb/bytes.h"
#include "store/limits/policy_change.h"
#include "wire/described.h"

namespace penstock::store::embedded {
std::string policy_record_key(std::string_view policy_key) {
  return std::string(policy_key) + '\0';
}

std::string policy_record_key(std::string_view policy_key, std::int64_t version) {
  std::string out = policy_record_key(policy_key);
  put_number(out, ~static_cast<std::uint64_t>(version));
  return out;
}

std::string encode_policy(const core::Policy& policy) {
  std::string out;
  put_number(out, kFormat);
  put_signed(out, policy.id);
  put_number(out, static_cast<std::uint8_t>(policy.deleted));
  put_micros(out, policy.changed);
  put_long_text(out, wire::to_document(policy.draft));
  return out;
}

Result<core::Policy> decode_policy(std::string_view key, std::string_view value) {
  core::Policy policy;
  ByteReader key_reader("the key of a policy", key);
  key_reader.text_to_nul();
  const std::uint64_t version = ~key_reader.number<std::uint64_t>();
  if (version == 0 || version > kVersionMax) key_reader.refuse("has a version out of range");
  policy.version = static_cast<std::int64_t>(version);
  PENSTOCK_TRY(key_reader.done(0));

  ByteReader reader("the policy record", value);
  reader.format();
  policy.id = static_cast<std::int64_t>(reader.number<std::uint64_t>());
  if (policy.id < 1) reader.refuse("has an id out of range");
  const auto deleted = reader.number<std::uint8_t>();
  if (deleted > 1) reader.refuse("has a flag that is neither set nor clear");
  policy.deleted = deleted == 1;
  policy.changed = reader.micros();
  const std::string_view document = reader.long_text();
  policy = PENSTOCK_TRY(reader.done(std::move(policy)));
  return stored_policy(std::move(policy), document);
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
