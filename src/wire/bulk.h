// The bulk format of OpenSearch (and Elasticsearch): two lines for each document, and an answer
// that speaks of each. Total functions; pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace penstock::wire {

struct BulkUsage {
  std::int32_t user = 0;
  Instant minute{};
  std::int64_t sent = 0;
  std::int64_t limited = 0;
  std::int64_t failed = 0;
};

// The id is `{userId}-{minute}`: the same minute of the same user replaces itself.
void append_bulk_usage(std::string& out, std::string_view index, const BulkUsage& usage);

struct BulkOutcome {
  std::vector<std::string> rejected;  // "101-2026-11-16T12:00:00.000Z: mapper_parsing_exception: …"
  std::size_t again = 0;              // of those, the other side was too busy for or broken
};
// `invalid` when it is no such answer.
Result<BulkOutcome> decode_bulk_answer(std::string_view body);

}  // namespace penstock::wire
