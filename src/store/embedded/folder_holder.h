// Who has a data folder, asked from outside.
#pragma once

#include <filesystem>
#include <optional>

namespace penstock::store::embedded {

// A process id, 0 when it is not known; none when the folder is free. Holds its lock for a moment,
// for there is no other way to ask.
std::optional<long> folder_holder(const std::filesystem::path& dir);

}  // namespace penstock::store::embedded
