#include "tool/demo/downstream.h"

#include <fmt/format.h>

#include <utility>

#include "tool/import/progress.h"
#include "wire/http/errors.h"
#include "wire/json.h"

namespace penstock::tool {
namespace {

std::int64_t number(std::uint64_t count) { return static_cast<std::int64_t>(count); }

double seconds_of(const BookingCounts& counts) {
  if (!counts.first) return 0;
  return std::chrono::duration<double>(*counts.last - *counts.first).count();
}

}  // namespace

std::optional<wire::Response> booking_response(const Booking& booking, std::string_view key,
                                               Instant now) {
  if (booking.lost) return std::nullopt;
  switch (booking.outcome) {
    case BookingOutcome::booked:
    case BookingOutcome::duplicate: {
      wire::JsonWriter out;
      out.begin_object()
          .member("booking", number(booking.number))
          .member("idempotencyKey", key)
          .end_object();
      wire::Response response{.body = std::move(out).take()};
      if (booking.outcome == BookingOutcome::duplicate) {
        response.header_lines = "Idempotency-Replayed: true\r\n";
      }
      return response;
    }
    case BookingOutcome::refused:
      return wire::error_response(429, "too many requests in this second", "-", now);
    case BookingOutcome::failed:
      return wire::error_response(500, "failed as --fail-rate asks", "-", now);
    case BookingOutcome::full:
      break;
  }
  return wire::error_response(500, "the books are full: --max-keys", "-", now);
}

std::string stats_json(const Bookings& bookings) {
  const BookingCounts& counts = bookings.counts();
  wire::JsonWriter out;
  out.begin_object()
      .member("requests", number(counts.requests))
      .member("booked", number(counts.booked))
      .member("duplicates", number(counts.duplicates))
      .member("refused", number(counts.refused))
      .member("failed", number(counts.failed))
      .member("lost", number(counts.lost))
      .member("busiestSecond", number(counts.busiest_second))
      .member("maxTps", number(bookings.rules().max_per_second));
  for (const auto& [name, at] : {std::pair{"firstAt", counts.first}, {"lastAt", counts.last}}) {
    out.key(name);
    if (at) {
      out.value(*at);
    } else {
      out.null();
    }
  }
  out.key("seconds").raw(fmt::format("{:.3f}", seconds_of(counts))).end_object();
  return std::move(out).take();
}

std::string stats_line(const Bookings& bookings, std::size_t width) {
  const BookingCounts& counts = bookings.counts();
  std::string line =
      fmt::format("{} booked  {} duplicates  {} refused  busiest second {} of {}",
                  with_thousands(counts.booked), with_thousands(counts.duplicates),
                  with_thousands(counts.refused), with_thousands(counts.busiest_second),
                  with_thousands(bookings.rules().max_per_second));
  if (line.size() > width) line.resize(width);
  return line;
}

std::string stats_text(const Bookings& bookings) {
  const BookingCounts& counts = bookings.counts();
  std::string text;
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<15}{:>12}\n", name, value);
  };
  row("requests", with_thousands(counts.requests));
  row("booked", with_thousands(counts.booked));
  row("duplicates", with_thousands(counts.duplicates));
  row("refused", with_thousands(counts.refused));
  if (counts.failed > 0) row("failed", with_thousands(counts.failed));
  if (counts.lost > 0) row("answers lost", with_thousands(counts.lost));
  row("busiest second", with_thousands(counts.busiest_second));
  row("limit", with_thousands(bookings.rules().max_per_second));
  row("seconds", fmt::format("{:.1f}", seconds_of(counts)));
  return text;
}

}  // namespace penstock::tool
