#include "store/slots/ports.h"

namespace penstock::store {

Result<void> check_request(const SlotRequest& request) {
  if (const std::string_view problem = id_problem(core::shown_id(request.event));
      !problem.empty()) {
    return invalid_field("eventId", problem);
  }
  if (request.requested < kInstantMin || request.requested >= kInstantEnd) {
    return invalid_field("requestedTime", "must be in the years 1970 to 2261");
  }
  if (request.max_delay < Millis{0} || request.max_delay > core::kMaxDelayMax) {
    return invalid_field("maxDelay", "must be from PT0S to P366D");
  }
  return {};
}

}  // namespace penstock::store
