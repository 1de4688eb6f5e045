// Who has a data folder, and who may look into it, asked from outside.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace penstock::store::embedded {

// A process id, 0 when it is not known; none when the folder is free. Holds its lock for a moment,
// for there is no other way to ask.
std::optional<long> folder_holder(const std::filesystem::path& dir);

struct OpenFolder {
  std::uint32_t mode = 0;
  std::string fix;  // the command that closes it
};
// A folder that others may read, write or enter; none: only its user may, or it is not there. Of a
// folder that is somebody else's, such as a volume, the group does not count: this user may be in
// it.
std::optional<OpenFolder> open_to_others(const std::filesystem::path& dir);

}  // namespace penstock::store::embedded
