// The bytes of what providers say of messages; in the family of the gateway's log
// (quota_encoding.h), with tags of their own. Pure.
//
//   gateway_log  'd', provider NUL reference                 -> kFormat written, message, part,
//                                                               parts, state, its time?, detail
//                'm', message id NUL provider NUL reference  -> kFormat
//                'P', written us, provider NUL reference     -> kFormat: what to forget, and when
//                'x', name of an export                      -> kFormat minute
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "store/quota/ports.h"

namespace penstock::store::embedded {

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
