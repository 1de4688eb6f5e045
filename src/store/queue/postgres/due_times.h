// When the first item of each type of a batch is due: what claims and other nodes must hear of new
// items. Lives for one call; the types must outlive it. One thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "engine/postgres/calls.h"
#include "engine/postgres/sql.h"
#include "store/queue/ports.h"
#include "store/queue/postgres/claim_hints.h"

namespace penstock::store::postgres {

struct Earliest {
  std::vector<std::string_view> types;
  std::vector<std::int64_t> due_us;

  void add(const ItemType& type, Instant due) {
    const auto found = std::ranges::find(types, std::string_view(type.str()));
    if (found == types.end()) {
      types.emplace_back(type.str());
      due_us.push_back(epoch_us(due));
    } else {
      std::int64_t& known = due_us[static_cast<std::size_t>(found - types.begin())];
      known = std::min(known, epoch_us(due));
    }
  }
  void lower(ClaimHints& hints) const {
    for (std::size_t i = 0; i < types.size(); ++i) {
      hints.lower(ItemType::trusted(std::string(types[i])), due_us[i]);
    }
  }
  Call announcement(std::optional<Instant> now) const {
    return {.sql = statement("announce_items"),
            .params = Params()
                          .texts(types)
                          .int8s(due_us)
                          .int8(std::int64_t{Micros{kAnnounceWithin}.count()})
                          .int8(epoch_us(now))};
  }
};

}  // namespace penstock::store::postgres
