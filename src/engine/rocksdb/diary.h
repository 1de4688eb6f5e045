// RocksDB's own messages (problems only), in `rocksdb.log` of the data folder and one file before
// it. RocksDB's usual logger must not be used: once the disk was full, its next line trips an
// assertion and ends the process (7.8 as Debian builds it). This one drops what it cannot write.
// Thread-safe.
#pragma once

#include <rocksdb/env.h>

#include <cstdarg>
#include <cstddef>
#include <filesystem>
#include <mutex>

#include "base/time.h"

namespace penstock::store::embedded {

class Diary final : public rocksdb::Logger {
 public:
  static constexpr std::size_t kBytesMax = std::size_t{1} << 20;  // a file

  Diary(const std::filesystem::path& dir, const Clock& clock);  // `clock` must outlive it
  ~Diary() override;

  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override;
  // Hundreds of lines of settings at every start: they stand in engine_options.cc.
  void LogHeader(const char* /*format*/, va_list /*arguments*/) override {}
  std::size_t GetLogFileSize() const override;

 private:
  void open_file();

  const Clock& clock_;
  const std::filesystem::path file_;
  mutable std::mutex mutex_;
  int fd_ = -1;            // guarded by mutex_; -1 when the file could not be opened
  std::size_t bytes_ = 0;  // guarded by mutex_
};

}  // namespace penstock::store::embedded
