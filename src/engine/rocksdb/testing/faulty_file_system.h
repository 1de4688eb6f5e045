// For tests: the disk as it is on bad days. Writes to the log fail on demand, and power can be cut,
// which takes away everything that was not synced. Thread-safe.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

namespace penstock::store::embedded {

enum class Fault {
  none,
  append_fails,  // to a log; nothing is written
  append_tears,  // to a log; half of the bytes are written
  sync_fails,    // of a log; the bytes may be there or not
  dead,          // no byte reaches any file any more
};

class FaultyFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  FaultyFileSystem() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "FaultyFileSystem"; }

  void set(Fault fault) { fault_ = fault; }
  int log_syncs() const { return log_syncs_; }

  // With the store closed: what was not synced is gone. Call set(dead) first, or closing syncs it.
  void lose_power() {
    const std::lock_guard lock(mutex_);
    std::error_code ignored;
    for (const auto& [name, bytes] : synced_) {
      if (std::filesystem::exists(name, ignored))
        std::filesystem::resize_file(name, bytes, ignored);
    }
    synced_.clear();
  }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* debug) override {
    if (fault_ == Fault::dead) return rocksdb::IOStatus::IOError("dead disk");
    std::unique_ptr<rocksdb::FSWritableFile> file;
    rocksdb::IOStatus status = FileSystemWrapper::NewWritableFile(name, options, &file, debug);
    if (!status.ok()) return status;
    set_synced(name, 0);
    *result = std::make_unique<File>(*this, name, std::move(file));
    return status;
  }

  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    if (fault_ == Fault::dead) return rocksdb::IOStatus::IOError("dead disk");
    rocksdb::IOStatus status = FileSystemWrapper::RenameFile(from, to, options, debug);
    const std::lock_guard lock(mutex_);
    if (auto node = synced_.extract(from); status.ok() && !node.empty()) {
      synced_[to] = node.mapped();
    }
    return status;
  }

  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    if (fault_ == Fault::dead) return rocksdb::IOStatus::IOError("dead disk");
    return FileSystemWrapper::DeleteFile(name, options, debug);
  }

 private:
  class File final : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(FaultyFileSystem& system, std::string name, std::unique_ptr<rocksdb::FSWritableFile> file)
        : FSWritableFileOwnerWrapper(std::move(file)),
          system_(system),
          name_(std::move(name)),
          is_log_(name_.ends_with(".log")) {}

    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override {
      const Fault fault = system_.fault_;
      if (fault == Fault::dead || (is_log_ && fault == Fault::append_fails)) {
        return rocksdb::IOStatus::IOError("append refused");
      }
      if (is_log_ && fault == Fault::append_tears) {
        const rocksdb::Slice half(data.data(), data.size() / 2);
        FSWritableFileWrapper::Append(half, options, debug).PermitUncheckedError();
        return rocksdb::IOStatus::NoSpace("append torn");
      }
      size_ += data.size();
      return FSWritableFileWrapper::Append(data, options, debug);
    }
    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                             const rocksdb::DataVerificationInfo& /*checksum*/,
                             rocksdb::IODebugContext* debug) override {
      return Append(data, options, debug);
    }
    // Only noted: what would survive is played, so the real disk need not be waited for.
    rocksdb::IOStatus Sync(const rocksdb::IOOptions& /*options*/,
                           rocksdb::IODebugContext* /*debug*/) override {
      return note_sync();
    }
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions& /*options*/,
                            rocksdb::IODebugContext* /*debug*/) override {
      return note_sync();
    }

   private:
    rocksdb::IOStatus note_sync() {
      const Fault fault = system_.fault_;
      if (fault == Fault::dead || (is_log_ && fault == Fault::sync_fails)) {
        return rocksdb::IOStatus::IOError("sync refused");
      }
      if (is_log_) ++system_.log_syncs_;
      system_.set_synced(name_, size_);
      return rocksdb::IOStatus::OK();
    }

    FaultyFileSystem& system_;
    const std::string name_;
    const bool is_log_;
    std::uint64_t size_ = 0;
  };

  void set_synced(const std::string& name, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    synced_[name] = bytes;
  }

  std::atomic<Fault> fault_ = Fault::none;
  std::atomic<int> log_syncs_ = 0;
  std::mutex mutex_;
  std::map<std::string, std::uint64_t> synced_;  // file -> bytes that survive; guarded by mutex_
};

}  // namespace penstock::store::embedded
