// The events of a file, one by one, as the JSON that the batch route takes. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/import/text_input.h"
#include "base/result.h"

namespace penstock::app {

enum class ImportFormat { csv, ndjson };

struct Record {
  std::uint64_t line = 0;  // in the file, from 1
  std::string input;       // as it stands there
  std::string json;        // one line
  std::string problem;     // not empty: it cannot be sent, and why
};

class RecordReader {
 public:
  virtual ~RecordReader() = default;
  virtual Result<bool> next(Record& record) = 0;  // false at the end
};

// `input` must outlive the reader. CSV: the first row names the fields (eventId, configName,
// requestedTime, maxDelay), in any order; a header that does not fit is `invalid`.
Result<std::unique_ptr<RecordReader>> read_records(ImportFormat format, TextInput& input);

}  // namespace penstock::app
