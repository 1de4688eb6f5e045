// The ports of slots on the engine. Safe on any thread: what changes something takes the writer's
// mutex for one step, the rest only reads.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "store/embedded/writer.h"
#include "store/slots/embedded/assign_batch.h"
#include "store/slots/embedded/known_configs.h"
#include "store/slots/ports.h"

namespace penstock::store::embedded {

class EmbeddedSlots final : public SlotStore {
 public:
  explicit EmbeddedSlots(Writer& writer) : writer_(writer), batch_(writer) {}

  std::vector<Result<Assignment>> assign(std::span<const SlotRequest> requests,
                                         std::optional<Instant> now) override;
  Result<std::vector<std::optional<Slot>>> find(std::span<const EventId> events) override;
  Result<std::vector<WindowUse>> windows(const WindowRange& range) override;
  Result<std::vector<Slot>> scan(const EventId& after, std::size_t limit) override;

 private:
  Writer& writer_;
  AssignBatch batch_;  // guarded by writer_.mutex
};

class EmbeddedConfigs final : public SlotConfigStore {
 public:
  explicit EmbeddedConfigs(Writer& writer) : writer_(writer) {}

  Result<std::optional<core::SlotConfig>> find(const ConfigName& name) override;
  Result<SlotConfigChange> put(const core::SlotConfigDraft& draft,
                               std::optional<Instant> now) override;
  Result<std::vector<core::SlotConfig>> history(const ConfigName& name, std::size_t limit) override;
  Result<std::vector<core::SlotConfig>> list(const ConfigName& after, std::size_t limit) override;

 private:
  Result<void> check_window_size(const Engine::View& view, const core::SlotConfig& config);

  Writer& writer_;
};

// A slot, its place in its window and its term change in one write (life.cc).
class EmbeddedLife final : public SlotLife {
 public:
  explicit EmbeddedLife(Writer& writer) : writer_(writer) {}

  Result<core::Slot> confirm(const EventId& event, std::optional<Instant> now) override;
  Result<core::Slot> release(const EventId& event, std::optional<Instant> now) override;
  Result<std::size_t> expire(std::size_t limit, std::optional<Instant> now) override;

 private:
  Writer& writer_;
};

// Walks all slots in the order of their events, since they have no other. Only the short step that
// forgets holds up the writer. One run at a time (retention.cc).
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
