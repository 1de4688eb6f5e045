#include <fmt/format.h>

#include <algorithm>

#include "tool/import/progress.h"
#include "wire/json.h"

namespace penstock::tool {
namespace {

std::uint64_t rate(std::uint64_t count, double seconds) {
  return seconds > 0 ? static_cast<std::uint64_t>(static_cast<double>(count) / seconds) : 0;
}

std::string row(std::string_view name, const std::string& value) {
  return fmt::format("{:<15}{:>12}\n", name, value);
}

std::string rows_of_reasons(const ImportTally& tally) {
  std::string text;
  for (const auto& [reason, count] : tally.reasons) {
    text += fmt::format("{:>27}  {}\n", with_thousands(count), reason);
  }
  return text;
}

void write_reasons(wire::JsonWriter& out, const ImportTally& tally) {
  out.key("reasons").begin_array();
  for (const auto& [reason, count] : tally.reasons) {
    out.begin_object()
        .member("reason", reason)
        .member("lines", static_cast<std::int64_t>(count))
        .end_object();
  }
  out.end_array();
}

}  // namespace

std::string summary_text(const ImportTally& tally, double seconds) {
  std::string text = row("lines read", with_thousands(tally.read));
  text += row("assigned", with_thousands(tally.accepted));
  text += row("failed", with_thousands(tally.not_taken()));
  text += rows_of_reasons(tally);
  if (tally.unanswered() > 0) text += row("not answered", with_thousands(tally.unanswered()));
  if (tally.retries > 0) text += row("batches retried", with_thousands(tally.retries));
  text += row("seconds", fmt::format("{:.1f}", seconds));
  text += row("events/s", with_thousands(rate(tally.accepted, seconds)));
  if (!tally.latest_scheduled_time.empty()) {
    text += fmt::format("{:<15}{}\n", "latest slot", tally.latest_scheduled_time);
  }
  return text;
}

std::string summary_json(const ImportTally& tally, double seconds) {
  const auto number = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
  wire::JsonWriter out;
  out.begin_object()
      .member("linesRead", number(tally.read))
      .member("assigned", number(tally.accepted))
      .member("failed", number(tally.not_taken()))
      .member("notAnswered", number(tally.unanswered()))
      .member("batchesRetried", number(tally.retries))
      .key("seconds")
      .raw(fmt::format("{:.3f}", seconds));
  write_reasons(out, tally);
  out.key("latestScheduledTime");
  if (tally.latest_scheduled_time.empty()) {
    out.null();
  } else {
    out.value(std::string_view(tally.latest_scheduled_time));
  }
  out.end_object();
  return std::move(out).take() + "\n";
}

std::string payments_text(const PaymentsSummary& summary) {
  const ImportTally& tally = summary.tally;
  std::string text;
  if (summary.before.through_line > 0) {
    text +=
        row("resumed after", fmt::format("line {}", with_thousands(summary.before.through_line)));
  }
  text += row("payments read", with_thousands(tally.read));
  text += row("accepted", with_thousands(tally.accepted));
  text += row("already known", with_thousands(tally.known));
  text += row("held", with_thousands(tally.held));
  text += row("rejected", with_thousands(tally.rejected));
  text += row("failed", with_thousands(tally.failed));
  text += rows_of_reasons(tally);
  if (tally.unanswered() > 0) text += row("not answered", with_thousands(tally.unanswered()));
  if (tally.retries > 0) text += row("batches retried", with_thousands(tally.retries));
  text += row("seconds", fmt::format("{:.1f}", summary.seconds));
  const std::uint64_t taken = tally.taken() - summary.before.taken();
  return text + row("payments/s", with_thousands(rate(taken, summary.seconds)));
}

std::string payments_json(const PaymentsSummary& summary) {
  const ImportTally& tally = summary.tally;
  wire::JsonWriter out;
  out.begin_object();
  for (const auto& [name, count] : {std::pair{"resumedAfterLine", summary.before.through_line},
                                    {"paymentsRead", tally.read},
                                    {"accepted", tally.accepted},
                                    {"alreadyKnown", tally.known},
                                    {"held", tally.held},
                                    {"rejected", tally.rejected},
                                    {"failed", tally.failed},
                                    {"notAnswered", tally.unanswered()},
                                    {"batchesRetried", tally.retries}}) {
    out.member(name, static_cast<std::int64_t>(count));
  }
  out.key("seconds").raw(fmt::format("{:.3f}", summary.seconds));
  write_reasons(out, tally);
  out.end_object();
  return std::move(out).take() + "\n";
}

}  // namespace penstock::tool
