#include "daemon/slot_archive.h"

#include <utility>

namespace penstock::daemon {

Result<void> SlotArchive::add(std::span<const core::Slot> slots) {
  std::string rows;
  if (!file_) {
    auto file = cli::OutputFile::create(path_);
    if (!file) return std::unexpected(file.error());
    file_ = std::make_unique<cli::OutputFile>(std::move(*file));
    if (format_ == ExportFormat::csv) rows = kSlotCsvHeader;
  }
  for (const core::Slot& slot : slots) append_row(rows, format_, slot);
  if (Result<void> written = file_->write(rows); !written) return written;
  return file_->sync();
}

}  // namespace penstock::daemon
