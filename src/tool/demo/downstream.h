// The stand-in payment API: requests in, answers and statistics out, over the bookings. Words only;
// one thread.
#pragma once

#include <optional>
#include <string>

#include "tool/demo/bookings.h"
#include "wire/http/message.h"

namespace penstock::tool {

// What a booking request gets back; nothing when its answer is to be lost.
std::optional<wire::Response> booking_response(const Booking& booking, std::string_view key,
                                               Instant now);
// `GET /stats`, and the end of the command with --json.
std::string stats_json(const Bookings& bookings);
// One line of at most `width` columns, no newline.
std::string stats_line(const Bookings& bookings, std::size_t width);
std::string stats_text(const Bookings& bookings);

}  // namespace penstock::tool
