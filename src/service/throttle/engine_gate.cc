#include "service/throttle/engine_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/clocks.h"

namespace penstock::service {
namespace {

Error too_late(Millis deadline) {
  return {.kind = ErrorKind::timeout,
          .what = fmt::format("no decision within {} ms", deadline.count())};
}

Error too_many() {
  return {.kind = ErrorKind::overloaded, .what = "too many decisions are waiting; try again"};
}

// Whether the engine is to blame. A record that cannot be read is not its fault as a whole.
bool is_outage(const Error& error) {
  return error.kind == ErrorKind::unavailable || error.kind == ErrorKind::timeout;
}

}  // namespace

GateJob::GateJob(std::span<const store::LimitRequest> requests, std::shared_ptr<const void> keep,
                 Done done)
    : requests_(requests.begin(), requests.end(), &memory_),
      keep_(std::move(keep)),
      done_(std::move(done)) {
  std::size_t checks = 0;
  std::size_t bytes = 0;
  for (const store::LimitRequest& request : requests) {
    checks += request.checks.size();
    for (const store::LimitCheck& check : request.checks) bytes += check.key.size();
  }
  // No growth below: requests point into checks, and checks into keys.
  keys_.reserve(bytes);
  checks_.reserve(checks);
  statuses_.resize(checks);
  std::span<core::LimitStatus> statuses = statuses_;
  for (store::LimitRequest& request : requests_) {
    const std::size_t first = checks_.size();
    for (const store::LimitCheck& check : request.checks) {
      const std::size_t at = keys_.size();
      keys_ += check.key;
      checks_.push_back(check);
      checks_.back().key = std::string_view(keys_).substr(at);
    }
    const std::size_t count = request.checks.size();
    request.checks = std::span(checks_).subspan(first, count);
    request.statuses = statuses.first(count);
    statuses = statuses.subspan(count);
  }
}

void GateJob::answer(std::span<Result<store::LimitAnswer>> answers) {
  if (!answered_.exchange(true)) done_(requests_, answers);
}

void GateJob::answer(const Error& error) {
  if (answered_.exchange(true)) return;
  std::vector<Result<store::LimitAnswer>> answers(requests_.size(), std::unexpected(error));
  done_(requests_, answers);
}

EngineGate::EngineGate(const EngineGateOptions& options, store::LimitStore& engine,
                       EngineWatch& watch, runtime::Metrics& metrics)
    : options_(options),
      engine_(engine),
      watch_(watch),
      batches_(metrics.counter("penstock_engine_batches_total",
                               "Batches of decisions sent to the shared engine of throttle")),
      requests_(metrics.counter("penstock_engine_requests_total",
                                "Decisions sent to the shared engine of throttle")),
      timeouts_(metrics.counter("penstock_engine_timeouts_total",
                                "Calls that the shared engine of throttle did not answer in time")),
      expiries_(
          "throttle-late", options.deadline,
          [](const std::shared_ptr<GateJob>& job) { return job->is_answered(); },
          [this](const std::shared_ptr<GateJob>& job) {
            timeouts_.add();
            job->answer(too_late(options_.deadline));
          }),
      batcher_({.name = "throttle-engine",
                .workers = options.workers,
                .join_min = options.join_min,
                .queue_max = options.queue_max,
                .batch_max = options.batch_max},
               [this](std::span<Command> commands) { return execute(commands); }) {}

void EngineGate::stop() {
  batcher_.stop();
  expiries_.stop();
}

void EngineGate::submit(std::shared_ptr<GateJob> job) {
  if (!watch_.usable()) return job->answer(watch_.away());
  std::vector<Command> commands;
  commands.reserve(job->requests().size());
  for (const store::LimitRequest& request : job->requests()) {
    commands.push_back({.request = request, .job = job.get()});
  }
  GateJob& refused = *job;
  expiries_.add(job);
  if (!batcher_.submit(std::move(commands),
                       [job](std::vector<Answer> answers) { job->answer(answers); })) {
    refused.answer(too_many());
  }
}

std::vector<EngineGate::Answer> EngineGate::execute(std::span<Command> commands) {
  std::vector<Answer> answers(commands.size(), fail(ErrorKind::timeout, "nobody waits any more"));
  std::vector<store::LimitRequest> requests;
  std::vector<std::size_t> places;
  requests.reserve(commands.size());
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (commands[i].job->is_answered()) continue;
    requests.push_back(commands[i].request);
    places.push_back(i);
  }
  if (requests.empty()) return answers;
  std::vector<Answer> given(requests.size());
  const runtime::Deadline deadline(options_.deadline);
  engine_.apply(requests, std::nullopt, given);
  batches_.add();
  requests_.add(requests.size());
  const auto outage =
      std::ranges::find_if(given, [](const Answer& a) { return !a && is_outage(a.error()); });
  if (outage != given.end()) {
    watch_.failed(outage->error());
  } else if (deadline.passed()) {
    watch_.failed(too_late(options_.deadline));
  } else {
    watch_.succeeded();
  }
  for (std::size_t i = 0; i < places.size(); ++i) answers[places[i]] = std::move(given[i]);
  return answers;
}

}  // namespace penstock::service
