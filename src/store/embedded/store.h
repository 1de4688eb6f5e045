// The embedded backend: everything in one folder, on RocksDB, with no server. Owns all that it
// hands out; the ports are safe on any thread while it lives. Opening, reading and writing never
// throw.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "base/result.h"
#include "base/time.h"
#include "store/backend.h"

namespace penstock::store::embedded {

struct StoreParts;

struct EmbeddedOptions {
  std::filesystem::path dir;  // made when missing; one process at a time
  // True: a write is acknowledged once the operating system has it. It survives the end of this
  // process, but a crash of the machine may lose the last moments.
  bool relaxed_durability = false;
  // Blocks, indexes and filters of the files. The filters take 2 bytes an event, and look-ups
  // slow down when they do not fit: this holds those of 25 million events. Filled as it is used.
  std::size_t cache_bytes = std::size_t{64} << 20;
  // Tables that stay open, a file each; the rest is opened when asked for. At 16 MiB each, 8 GiB of
  // events stay open.
  std::size_t tables_open = 512;
};

class EmbeddedStore {
 public:
  // `unavailable`: the folder cannot be written, is in use, or is of a newer version. `corrupt`:
  // its files are damaged. `clock` must outlive the store.
  static Result<std::unique_ptr<EmbeddedStore>> open(const EmbeddedOptions& options,
                                                     const Clock& clock);
  EmbeddedStore(const EmbeddedStore&) = delete;
  EmbeddedStore& operator=(const EmbeddedStore&) = delete;
  ~EmbeddedStore();

  // The ports live as long as this object.
  Backend backend() noexcept;

 private:
  explicit EmbeddedStore(std::unique_ptr<StoreParts> parts) noexcept;
  std::unique_ptr<StoreParts> parts_;
};

}  // namespace penstock::store::embedded
