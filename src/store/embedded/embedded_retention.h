// SlotRetention on the engine: walks all slots in the order of their events, since they have no
// other. Only the short step that forgets holds up the writer. Safe on any thread, one run at a
// time.
#pragma once

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "store/embedded/writer.h"
#include "store/slot_retention.h"

namespace penstock::store::embedded {

class EmbeddedRetention final : public SlotRetention {
 public:
  explicit EmbeddedRetention(Writer& writer) : writer_(writer) {}

  Result<PruneReport> prune(const PruneOptions& options, const Sink& sink,
                            const std::function<bool()>& should_stop) override;

 private:
  // The timeline that a version of a config places on.
  struct Timeline {
    PoolName pool;
    Millis size{0};
    friend auto operator<=>(const Timeline&, const Timeline&) = default;
  };
  struct OldSlot {
    core::Slot slot;
    Timeline timeline;
  };
  struct Page {
    std::vector<OldSlot> old;
    EventId last;       // where the walk stands
    bool more = false;  // whether it goes on
  };

  Result<Page> read(const EventId& after, std::size_t limit, Instant bound);
  Result<Timeline> timeline_of(const Engine::View& view, const core::Slot& slot);
  // Gives how many windows hold nothing any more.
  Result<std::size_t> forget(const std::vector<OldSlot>& old);

  Writer& writer_;
  std::mutex running_;                                                 // held for a whole run
  std::map<std::pair<ConfigName, std::int64_t>, Timeline> timelines_;  // guarded by running_
};

}  // namespace penstock::store::embedded
