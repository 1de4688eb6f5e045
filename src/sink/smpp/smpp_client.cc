#include "sink/smpp/smpp_client.h"

#include <algorithm>
#include <utility>

#include "sink/address_guard.h"
#include "sink/smpp/smpp_sink.h"

namespace penstock::sink {
namespace {

runtime::Counter& submits(runtime::Metrics& metrics, std::string outcome) {
  return metrics.counter("penstock_smpp_submits_total",
                         "Parts of messages that providers answered, by what they said",
                         {{"outcome", std::move(outcome)}});
}

}  // namespace

SmppClient::Counters::Counters(runtime::Metrics& metrics)
    : accepted(submits(metrics, "accepted")),
      throttled(submits(metrics, "throttled")),
      refused(submits(metrics, "refused")),
      failed(submits(metrics, "failed")),
      receipts(metrics.counter("penstock_smpp_receipts_total", "Delivery receipts that were kept")),
      ignored(metrics.counter("penstock_smpp_ignored_total",
                              "Messages from providers that are no receipts")),
      binds(metrics.counter("penstock_smpp_binds_total", "Sessions that providers let in")) {}

SmppClient::SmppClient(Log& log, runtime::Metrics& metrics, ReceiptBook* book, SmppOptions options)
    : log_(log),
      counters_(metrics),
      book_(book),
      options_(options),
      resolver_({.name = "smpp-dns", .threads = 1, .queue_max = kResolverQueueMax}) {
  metrics.gauge_function("penstock_smpp_sessions_down", "Providers without a session", [this] {
    const std::lock_guard lock(mutex_);
    double down = 0;
    for (const auto& [session, problem] : sessions_) down += problem.empty() ? 0 : 1;
    return down;
  });
}

SmppClient::~SmppClient() { resolver_.stop(); }

std::unique_ptr<Sink> SmppClient::open_sink(const SmppSettings& settings) {
  return std::make_unique<SmppSink>(*this, settings);
}

SinkKind smpp_kind(SmppClient* client) {
  return kind_of<SmppSettings>(
      "smpp", [client](const SmppSettings& settings) { return client->open_sink(settings); },
      [client] { return client->health(); });
}

std::string ascii_problem(const FieldValue& value) {
  const bool plain = std::ranges::all_of(std::get<std::string>(value),
                                         [](char c) { return c >= ' ' && c < 0x7F; });
  return plain ? "" : "must be printable ASCII characters";
}

Result<void> SmppClient::health() const {
  const std::lock_guard lock(mutex_);
  for (const auto& [session, problem] : sessions_) {
    if (!problem.empty()) return fail(ErrorKind::unavailable, problem);
  }
  return {};
}

std::size_t SmppClient::add_session(std::string problem) {
  const std::lock_guard lock(mutex_);
  sessions_.emplace(++last_session_, std::move(problem));
  return last_session_;
}

void SmppClient::set_session(std::size_t session, std::string problem) {
  const std::lock_guard lock(mutex_);
  sessions_[session] = std::move(problem);
}

void SmppClient::remove_session(std::size_t session) {
  const std::lock_guard lock(mutex_);
  sessions_.erase(session);
}

}  // namespace penstock::sink
