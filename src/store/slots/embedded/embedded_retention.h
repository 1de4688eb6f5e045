// SlotRetention on the engine: walks all slots in the order of their events, since they have no
// other. Only the short step that forgets holds up the writer. Safe on any thread, one run at a
// time.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "store/embedded/writer.h"
#include "store/slots/embedded/timelines.h"
#include "store/slots/ports.h"

namespace penstock::store::embedded {

class EmbeddedRetention final : public SlotRetention {
 public:
  explicit EmbeddedRetention(Writer& writer) : writer_(writer) {}

  Result<PruneReport> prune(const PruneOptions& options, const Sink& sink,
                            const std::function<bool()>& should_stop) override;

 private:
  struct OldSlot {
    core::Slot slot;
    Timeline timeline;
    std::string record;  // of a slot that may still change
    bool counted = true;
  };
  struct Page {
    std::vector<OldSlot> old;
    EventId last;       // where the walk stands
    bool more = false;  // whether it goes on
  };

  Result<Page> read(const EventId& after, std::size_t limit, Instant bound);
  // Takes out those that changed since they were read: they are for the next run.
  Result<void> drop_changed(const Engine::View& view, std::vector<OldSlot>& old);
  // Gives how many windows hold nothing any more. `old` keeps those that are gone.
  Result<std::size_t> forget(std::vector<OldSlot>& old);

  Writer& writer_;
  std::mutex running_;   // held for a whole run
  Timelines timelines_;  // guarded by running_
};

}  // namespace penstock::store::embedded
