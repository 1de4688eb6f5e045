// A new file of slots that leave the store: each step is on disk before the store forgets it. One
// thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "cli/output_file.h"
#include "core/slots/slot.h"
#include "daemon/commands/export_rows.h"

namespace penstock::daemon {

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
