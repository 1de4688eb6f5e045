#include "store/embedded/embedded_store.h"

#include <utility>

#include "store/embedded/store_parts.h"

namespace penstock::store::embedded {

Result<std::unique_ptr<EmbeddedStore>> EmbeddedStore::open(const EmbeddedOptions& options,
                                                           const Clock& clock) {
  Result<std::unique_ptr<StoreParts>> parts =
      StoreParts::open({.dir = options.dir,
                        .relaxed_durability = options.relaxed_durability,
                        .cache_bytes = options.cache_bytes,
                        .tables_open = options.tables_open},
                       clock);
  if (!parts) return std::unexpected(std::move(parts.error()));
  return std::unique_ptr<EmbeddedStore>(new EmbeddedStore(std::move(*parts)));
}

EmbeddedStore::EmbeddedStore(std::unique_ptr<StoreParts> parts) noexcept
    : parts_(std::move(parts)) {}

EmbeddedStore::~EmbeddedStore() = default;

Backend EmbeddedStore::backend() noexcept { return parts_->backend(); }

}  // namespace penstock::store::embedded
