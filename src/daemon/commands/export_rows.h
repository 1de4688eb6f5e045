// Slots and configs as rows of a file: the names of the API, NDJSON or CSV; and the file of slots
// that leave the store.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/output_file.h"
#include "core/slots/slot.h"
#include "core/slots/slot_config.h"

namespace penstock::daemon {

enum class ExportFormat { ndjson, csv };

inline constexpr std::string_view kSlotCsvHeader =
    "eventId,configName,requestedTime,scheduledTime,delayMs,windowStart,status,createdAt,"
    "configVersion,owner\n";
inline constexpr std::string_view kConfigCsvHeader =
    "configName,version,active,maxPerWindow,windowSize,pool,effectiveFrom\n";

// Appends one line.
void append_row(std::string& out, ExportFormat format, const core::Slot& slot);
void append_row(std::string& out, ExportFormat format, const core::SlotConfig& config);

// A new file of slots that leave the store: each step is on disk before the store forgets it. One
// thread at a time.
class SlotArchive {
 public:
  // The file is made with the first slots and never replaces another.
  SlotArchive(std::filesystem::path path, ExportFormat format)
      : path_(std::move(path)), format_(format) {}

  Result<void> add(std::span<const core::Slot> slots);

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  const std::filesystem::path path_;
  const ExportFormat format_;
  std::unique_ptr<cli::OutputFile> file_;  // null until there is something to write
};

}  // namespace penstock::daemon
