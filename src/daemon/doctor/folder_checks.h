// The data folder of the embedded store. The judgements are pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "daemon/config/config.h"
#include "daemon/doctor/finding.h"
#include "engine/rocksdb/folder_holder.h"
#include "engine/rocksdb/verify.h"
#include "runtime/deadline.h"
#include "store/embedded/inspect.h"

namespace penstock::daemon::doctor {

struct DiskView {
  std::string place;             // the folder, or the nearest one above it that there is
  int problem = 0;               // what the system says to writing there; 0 = it may be written
  std::uint64_t free_bytes = 0;  // for those who are not root
};

Finding judge_disk(const std::string& folder, const DiskView& disk);

// `who` runs this, by name or number.
Finding judge_access(const std::string& folder, bool exists, const DiskView& disk,
                     const std::string& who);

// `open`: how it is open to others than its user.
Finding judge_mode(const std::string& folder,
                   const std::optional<store::embedded::OpenFolder>& open, bool empty);

// Whether a daemon may have the folder. `http_free`: whoever has it is not one with these settings.
Finding judge_lock(std::optional<long> holder, bool http_free);

Findings judge_folder(const std::string& folder, const Result<store::embedded::FolderView>& view,
                      std::uint32_t known_schema, bool http_free);

// What was read of its tables, logs and seal.
Finding judge_data(const std::string& folder, const Result<store::embedded::Verdict>& verdict);

Findings check_folder(const Config& config, const runtime::Deadline& deadline);

}  // namespace penstock::daemon::doctor
