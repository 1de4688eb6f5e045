#include "store/embedded/writer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "store/slots/embedded/records.h"

namespace penstock::store::embedded {

Result<void> Writer::load() {
  windows.drop();
  timelines = {};
  terms_from = Instant::min();
  const Result<Engine::View> view = engine.view();
  if (!view) return std::unexpected(view.error());
  Result<std::vector<core::SlotConfig>> newest = newest_configs(*view);
  if (!newest) return std::unexpected(std::move(newest.error()));
  WindowRecords records(*view);
  const Instant now = std::max(clock.now(), kInstantMin);
  std::size_t left = kWarmWindowsMax;
  for (const core::SlotConfig& config : *newest) {
    if (left == 0) break;
    const Result<std::size_t> read = windows.warm(config, now, left, records);
    if (!read) return std::unexpected(read.error());
    left -= std::min(left, *read);
  }
  if (Result<void> loaded = policies.load(*view); !loaded) return loaded;
  if (Result<void> loaded = queue.load(*view); !loaded) return loaded;
  if (Result<void> loaded = progress.load(*view); !loaded) return loaded;
  configs.replace(std::move(*newest));
  return {};
}

Result<void> Writer::ready() {
  const Result<bool> reopened = engine.mend();
  if (!reopened) {
    windows.drop();  // the database may have been reopened all the same, for reading
    return std::unexpected(reopened.error());
  }
  if (!*reopened) return {};
  Result<void> loaded = load();
  if (!loaded) engine.set_failure(loaded.error());
  return loaded;
}

}  // namespace penstock::store::embedded
