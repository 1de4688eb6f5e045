// One batch on its way to penstock.assign_slots and back: groups the requests, builds the
// parameters, reads the answer. Lives for one call; `requests` must outlive it. One thread at a
// time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/postgres/binary.h"
#include "engine/sql/doubt.h"
#include "store/slots/ports.h"
#include "store/slots/postgres/full_hints.h"

namespace penstock::store::postgres {

class AssignBatch {
 public:
  AssignBatch(std::span<const SlotRequest> requests, std::optional<Instant> now,
              const FullHints& hints);

  // Columns of the answer that are ours; those of the items stand behind them.
  static constexpr int kColumns = 20;

  // Without those of the items.
  Params params(LookUp look_up) const;
  // One answer per request, in order. Teaches `hints` which windows are full.
  std::vector<Result<Assignment>> read(const Rows& rows, FullHints& hints) const;

 private:
  struct Answer;

  void add(std::size_t place, const FullHints& hints);
  void add_events(Params& params) const;
  std::int32_t name_index(const ConfigName& name);
  bool continues_group(std::size_t place) const;
  Result<Assignment> fresh(const Answer& answer, std::size_t place, std::size_t run) const;
  Error refusal(const Answer& answer, std::size_t place) const;
  void teach(const Answer& answer, FullHints& hints) const;

  const std::span<const SlotRequest> requests_;
  const std::optional<Instant> now_;

  std::vector<std::int32_t> group_of_;  // per request, from 0
  std::vector<std::int32_t> same_as_;   // per request: its event stands there too (from 1), or 0
  std::unordered_map<std::string_view, std::int32_t> last_place_;

  std::vector<std::int32_t> group_count_;
  std::vector<std::int32_t> group_config_;  // from 1; 0 = not to be placed
  std::vector<std::int64_t> group_requested_;
  std::vector<std::int64_t> group_max_delay_;
  std::vector<std::int64_t> group_skip_to_;
  std::vector<std::int64_t> group_skip_id_;
  std::vector<std::int32_t> group_same_as_;
  std::vector<const SlotRequest*> group_head_;

  std::vector<const ConfigName*> names_;
  std::vector<std::int32_t> likely_pools_;  // empty = not all are known
};

}  // namespace penstock::store::postgres
