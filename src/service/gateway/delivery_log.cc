#include "service/gateway/delivery_log.h"

#include <algorithm>
#include <string>
#include <utility>

namespace penstock::service {
namespace {

constexpr std::size_t kForgetParts = 1'000;  // in one step: some 20 ms
constexpr std::size_t kDetailBytesMax = 256;

store::PartName name_of(std::string&& provider, std::string&& reference) {
  return {.provider = std::move(provider), .reference = std::move(reference)};
}

bool fits(const store::PartName& name) {
  const auto good = [](const std::string& text) {
    return text.size() <= store::kPartNameBytesMax && text.find('\0') == std::string::npos;
  };
  return good(name.provider) && good(name.reference);
}

}  // namespace

DeliveryLog::DeliveryLog(DeliveryLogOptions options, store::DeliveryStore& store,
                         const Clock& clock, Log& log, runtime::Metrics& metrics,
                         store::RetentionClock* retention_clock)
    : options_(options),
      store_(store),
      clock_(clock),
      retention_clock_(retention_clock),
      log_(log),
      unmatched_(
          metrics.counter("gateway_receipts_unmatched_total",
                          "Delivery receipts of messages that were not known when they came")),
      lost_(metrics.counter("gateway_receipts_unwritten_total",
                            "References and receipts that the store did not take")),
      batcher_({.name = "gateway-dlr",
                .workers = 1,
                .join_min = 1,
                .queue_max = options_.queue_max,
                .batch_max = options_.batch_max},
               [this](std::span<Note> notes) { return execute(notes); }),
      retention_ticker_("gateway-dlr-old", options_.retention_interval,
                        [this](const auto& should_stop) { forget_old(should_stop); }) {}

void DeliveryLog::stop() {
  retention_ticker_.stop();
  batcher_.stop();
}

void DeliveryLog::note_taken(sink::TakenMessage&& message, Kept kept) {
  note(std::move(message), std::move(kept));
}

void DeliveryLog::note_receipt(sink::ProviderReceipt&& receipt, Kept kept) {
  note(std::move(receipt), std::move(kept));
}

void DeliveryLog::note(Note&& note, Kept&& kept) {
  std::vector<Note> notes;
  notes.push_back(std::move(note));
  decltype(batcher_)::Done done = [kept = std::move(kept)](std::vector<Fate> answers) mutable {
    kept(answers.front() == Fate::kept);
  };
  if (batcher_.submit(std::move(notes), std::move(done))) return;
  lost_.add();
  // NOLINTNEXTLINE(bugprone-use-after-move): a refused submit has taken nothing.
  done({Fate::lost});
}

// References first: a report that came in the same batch then finds its message, and the store does
// not mind the order.
std::vector<DeliveryLog::Fate> DeliveryLog::execute(std::span<Note> notes) {
  std::vector<store::TakenPart> parts;
  std::vector<store::PartReport> reports;
  for (Note& note : notes) {
    if (auto* const taken = std::get_if<sink::TakenMessage>(&note)) {
      const int count = static_cast<int>(taken->references.size());
      for (int i = 0; i < count; ++i) {
        std::string& reference = taken->references[static_cast<std::size_t>(i)];
        if (reference.empty()) continue;
        store::PartName name = name_of(std::string(taken->provider), std::move(reference));
        if (!fits(name)) continue;
        parts.push_back(
            {.name = std::move(name), .message = taken->message, .part = i + 1, .parts = count});
      }
    } else {
      auto& receipt = std::get<sink::ProviderReceipt>(note);
      store::PartName name = name_of(std::move(receipt.provider), std::move(receipt.reference));
      if (!fits(name)) continue;
      receipt.detail.resize(std::min(receipt.detail.size(), kDetailBytesMax));
      reports.push_back(
          {.name = std::move(name), .state = receipt.state, .detail = std::move(receipt.detail)});
    }
  }
  const bool taken_kept = write_taken(parts);
  const bool reports_kept = write_reports(reports);
  if (taken_kept && reports_kept) failed_ = false;
  std::vector<Fate> answers;
  answers.reserve(notes.size());
  for (const Note& note : notes) {
    const bool kept = std::holds_alternative<sink::TakenMessage>(note) ? taken_kept : reports_kept;
    if (!kept) lost_.add();
    answers.push_back(kept ? Fate::kept : Fate::lost);
  }
  return answers;
}

bool DeliveryLog::write_taken(std::vector<store::TakenPart>& parts) {
  const Result<void> written = store_.note_taken(parts, std::nullopt);
  if (!written) complain(written.error());
  return written.has_value();
}

bool DeliveryLog::write_reports(std::vector<store::PartReport>& reports) {
  const Result<std::vector<bool>> known = store_.note_reports(reports, std::nullopt);
  if (!known) {
    complain(known.error());
    return false;
  }
  for (const bool each : *known) {
    if (!each) unmatched_.add();
  }
  return true;
}

// Once per outage.
void DeliveryLog::complain(const Error& error) {
  if (!std::exchange(failed_, true)) {
    log_.warn("gateway.receipts_not_written", {{"error", error.what}});
  }
}

void DeliveryLog::forget_old(const std::function<bool()>& should_stop) {
  const Result<Instant> before = store::older_than(retention_clock_, clock_, options_.retention);
  while (!should_stop()) {
    const Result<std::size_t> gone =
        before ? store_.forget_parts(*before, kForgetParts) : std::unexpected(before.error());
    if (!gone) {
      log_.warn("gateway.forget_receipts_failed", {{"error", gone.error().what}});
      return;
    }
    if (*gone < kForgetParts) return;
  }
}

}  // namespace penstock::service
