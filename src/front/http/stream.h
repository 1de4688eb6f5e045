// One event of the live stream. Made once and shared by all that view it; immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace penstock::front {

struct StreamEvent {
  std::uint64_t number = 0;  // grows by one from event to event
  std::string bytes;         // as they stand in the body
};

using SharedEvent = std::shared_ptr<const StreamEvent>;

}  // namespace penstock::front
