// For tests: small file systems that nobody else sees and that vanish with the process, however it
// ends. Needs root; where that is missing, problem() says so and the test is skipped with it.
#pragma once

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

namespace penstock::store::embedded {

class PrivateMounts {
 public:
  // The process's own view of the mounts. Taken before any thread starts (see the environment in
  // disk_test.cc), because threads keep the view they were born with.
  static PrivateMounts& instance() {
    static PrivateMounts mounts;
    return mounts;
  }

  const std::string& problem() const { return problem_; }  // empty when mounts can be made

  bool mount_memory(const std::filesystem::path& at, const std::string& size) {
    std::filesystem::create_directories(at);
    return mount("tmpfs", at.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
  }
  bool set_read_only(const std::filesystem::path& at, bool read_only) {
    const unsigned long flags = read_only ? MS_REMOUNT | MS_RDONLY : MS_REMOUNT;
    return mount(nullptr, at.c_str(), nullptr, flags, nullptr) == 0;
  }
  void unmount(const std::filesystem::path& at) { umount2(at.c_str(), MNT_DETACH); }

 private:
  PrivateMounts() {
    if (unshare(CLONE_NEWNS) != 0 ||
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
      problem_ = "cannot make a private mount: " + std::generic_category().message(errno);
    }
  }
  std::string problem_;
};

}  // namespace penstock::store::embedded
