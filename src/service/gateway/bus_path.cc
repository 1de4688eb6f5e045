#include "service/gateway/bus_path.h"

#include <atomic>
#include <map>
#include <tuple>
#include <utility>

namespace penstock::service {
namespace {

using sink::BusOutcome;
using store::KeyState;
using store::SendResult;
using store::Sent;

Result<Sent> refused(SendResult result, Micros retry_after = Micros::zero()) {
  return Sent{.result = result, .id = {}, .retry_after = retry_after};
}

// What a key answers by itself; none when the message goes on.
std::optional<Result<Sent>> answer_of(const store::KeyView& key) {
  switch (key.state) {
    case KeyState::accepted:
      return Sent{.result = SendResult::repeated, .id = key.id};
    case KeyState::different:
      return refused(SendResult::different);
    case KeyState::pending:
      return refused(SendResult::pending);
    case KeyState::free:
    case KeyState::left:
      break;
  }
  return std::nullopt;
}

}  // namespace

struct BusPath::Request {
  Request(std::size_t count, Done&& done_in)
      : answers(count, std::unexpected(Error{})), left(count), done(std::move(done_in)) {}

  Answers answers;  // each place is written by its own flight
  std::atomic<std::size_t> left;
  Done done;
};

BusPath::BusPath(const SendPathOptions& options, Millis key_live, BusPorts ports, SendTally& tally,
                 runtime::Histogram& batch_size, Log& log, runtime::Metrics& metrics)
    : key_live_(key_live),
      under_way_max_(options.queue_max),
      ports_(ports),
      tally_(tally),
      batch_size_(batch_size),
      log_(log),
      kept_(metrics.counter("gateway_charges_kept_total",
                            "Charges that stay though their message may not be on the bus")),
      // No more can wait there than is under way.
      settler_({.name = "gateway-settle",
                .workers = options.writers,
                .join_min = options.join_min,
                .queue_max = options.queue_max,
                .batch_max = options.batch_max},
               [this](std::span<Landing> landings) { return settle(landings); }),
      charger_({.name = "gateway-charge",
                .workers = options.writers,
                .join_min = options.join_min,
                .queue_max = options.queue_max,
                .batch_max = options.batch_max},
               [this](std::span<Flight> batch) { return execute(batch); }) {}

void BusPath::send(std::vector<NewMessage> messages, Done done) {
  const std::size_t count = messages.size();
  bool taken = false;
  {
    const std::lock_guard lock(mutex_);
    // A request larger than all room is let in when it is alone, else it never could be.
    taken = !stopping_ && (under_way_ == 0 || under_way_ + count <= under_way_max_);
    if (taken) under_way_ += count;
  }
  if (!taken) return done(Answers(count, std::unexpected(too_many(kMessages))));
  const auto request = std::make_shared<Request>(count, std::move(done));
  std::vector<Flight> flights;
  flights.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    flights.push_back({.request = request, .place = i, .message = std::move(messages[i])});
  }
  if (charger_.submit(std::move(flights), [](const std::vector<Nothing>&) {})) return;
  // NOLINTNEXTLINE(bugprone-use-after-move): a refused submit has taken nothing.
  for (Flight& flight : flights) finish(std::move(flight), std::unexpected(too_many(kMessages)));
}

std::size_t BusPath::waiting() const {
  const std::lock_guard lock(mutex_);
  return under_way_;
}

void BusPath::stop() {
  {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    // The bus answers within its deadline, and the store within its own.
    landed_.wait(lock, [&] { return under_way_ == 0; });
  }
  charger_.stop();
  settler_.stop();
}

std::vector<BusPath::Nothing> BusPath::execute(std::span<Flight> batch) {
  batch_size_.observe(static_cast<double>(batch.size()));
  const std::size_t count = batch.size();
  for (Flight& flight : claim_keys(charge(look_at_keys(join_same_keys(batch))))) {
    publish(std::move(flight));
  }
  return std::vector<Nothing>(count);
}

std::vector<BusPath::Flight> BusPath::join_same_keys(std::span<Flight> batch) {
  std::vector<Flight> out;
  out.reserve(batch.size());
  std::map<std::pair<core::UserId, std::string>, std::size_t> first;
  for (Flight& flight : batch) {
    if (!flight.message.call.key.empty()) {
      const auto [found, added] =
          first.try_emplace({flight.message.call.user, flight.message.call.key}, out.size());
      if (!added) {
        out[found->second].same_key.push_back(std::move(flight));
        continue;
      }
    }
    out.push_back(std::move(flight));
  }
  return out;
}

namespace {

store::KeyClaim claim_of(const NewMessage& message) {
  return {.user = message.call.user,
          .key = message.call.key,
          .digest = message.call.digest,
          .id = message.id};
}

}  // namespace

std::vector<BusPath::Flight> BusPath::look_at_keys(std::vector<Flight>&& flights) {
  std::vector<store::KeyClaim> keyed;
  for (const Flight& flight : flights) {
    if (!flight.message.call.key.empty()) keyed.push_back(claim_of(flight.message));
  }
  if (keyed.empty()) return std::move(flights);
  const auto views = ports_.keys.look(keyed, key_live_, std::nullopt);
  std::vector<Flight> out;
  out.reserve(flights.size());
  std::size_t next = 0;
  for (Flight& flight : flights) {
    if (!flight.message.call.key.empty()) {
      if (!views) {
        finish(std::move(flight), std::unexpected(views.error()));
        continue;
      }
      const store::KeyView& view = (*views)[next++];
      if (const auto answer = answer_of(view)) {
        finish(std::move(flight), *answer);
        continue;
      }
      flight.retaken = view.state == KeyState::left;
    }
    out.push_back(std::move(flight));
  }
  return out;
}

std::vector<BusPath::Flight> BusPath::charge(std::vector<Flight>&& flights) {
  std::vector<store::Charge> charges;
  charges.reserve(flights.size());
  for (const Flight& flight : flights) {
    if (flight.retaken) continue;
    charges.push_back({.user = flight.message.call.user, .cost = flight.message.cost});
  }
  if (charges.empty()) return std::move(flights);
  const std::vector<Result<store::Charged>> charged = ports_.gate.charge(charges, std::nullopt);
  std::vector<Flight> out;
  out.reserve(flights.size());
  std::size_t next = 0;
  for (Flight& flight : flights) {
    if (flight.retaken) {
      out.push_back(std::move(flight));
      continue;
    }
    const Result<store::Charged>& answer = charged[next++];
    if (!answer) {
      finish(std::move(flight), std::unexpected(answer.error()));
      continue;
    }
    switch (answer->result) {
      case store::ChargeResult::charged:
        flight.window = answer->window;
        out.push_back(std::move(flight));
        break;
      case store::ChargeResult::limited:
        finish(std::move(flight), refused(SendResult::limited, answer->retry_after));
        break;
      case store::ChargeResult::never:
        finish(std::move(flight), refused(SendResult::never));
        break;
      case store::ChargeResult::unknown_user:
        finish(std::move(flight), refused(SendResult::unknown_user));
        break;
    }
  }
  return out;
}

std::vector<BusPath::Flight> BusPath::claim_keys(std::vector<Flight>&& flights) {
  std::vector<store::KeyClaim> keyed;
  for (const Flight& flight : flights) {
    if (!flight.message.call.key.empty()) keyed.push_back(claim_of(flight.message));
  }
  if (keyed.empty()) return std::move(flights);
  const auto views = ports_.keys.claim(keyed, key_live_, std::nullopt);
  std::vector<Flight> out;
  out.reserve(flights.size());
  std::vector<store::GiveBack> back;
  std::vector<store::KeySettlement> forgotten;
  // Answered once their charges are back: who is told sees the count as it is.
  std::vector<std::pair<Flight, Result<Sent>>> answered;
  std::size_t next = 0;
  for (Flight& flight : flights) {
    if (flight.message.call.key.empty()) {
      out.push_back(std::move(flight));
      continue;
    }
    if (!views) {
      // The claim may be there all the same, and stands for a charge.
      if (!flight.retaken) kept_.add();
      finish(std::move(flight), std::unexpected(views.error()));
      continue;
    }
    const store::KeyView& view = (*views)[next++];
    const bool charged = !flight.retaken;
    if (!charged && view.state == KeyState::free) {
      // It was forgotten since the look, and its charge with it: this claim would stand for none.
      forgotten.push_back({.user = flight.message.call.user,
                           .key = flight.message.call.key,
                           .claim = view.claim,
                           .end = store::KeyEnd::dropped});
      finish(std::move(flight), refused(SendResult::pending));
      continue;
    }
    const auto answer = answer_of(view);
    // Somebody was faster since the look; a claim that was left brings its own charge.
    if (charged && (answer || view.state == KeyState::left)) {
      back.push_back(
          {.user = flight.message.call.user, .cost = flight.message.cost, .window = flight.window});
    }
    if (answer) {
      answered.emplace_back(std::move(flight), *answer);
      continue;
    }
    flight.retaken = !charged || view.state == KeyState::left;
    flight.claim = view.claim;
    flight.message.id = view.id;
    out.push_back(std::move(flight));
  }
  give_back(back);
  for (auto& [flight, answer] : answered) finish(std::move(flight), answer);
  if (!forgotten.empty()) std::ignore = ports_.keys.settle(forgotten, std::nullopt);
  return out;
}

void BusPath::publish(Flight&& flight) {
  sink::BusMessage message{.id = flight.message.id,
                           .user = flight.message.call.user,
                           .text = std::move(flight.message.call.message),
                           .to = std::move(flight.message.call.to),
                           .accepted = flight.message.accepted,
                           .trace = std::move(flight.message.call.trace)};
  ports_.bus.publish(std::move(message),
                     [this, flight = std::move(flight)](BusOutcome outcome) mutable {
                       land({.flight = std::move(flight), .outcome = outcome});
                     });
}

// On a thread of the bus: what needs the store goes to the settler.
void BusPath::land(Landing&& landing) {
  const bool keyed = !landing.flight.message.call.key.empty();
  if (!keyed && landing.outcome == BusOutcome::delivered) {
    ItemId id = landing.flight.message.id;
    return finish(std::move(landing.flight), Sent{.id = std::move(id)});
  }
  if (!keyed && landing.outcome == BusOutcome::unknown) {
    kept_.add();
    return finish(std::move(landing.flight), refused(SendResult::unconfirmed));
  }
  std::vector<Landing> one;
  one.push_back(std::move(landing));
  if (settler_.submit(std::move(one), [](const std::vector<Nothing>&) {})) return;
  // A request larger than the queue: its charge and its claim are left as a crash leaves them.
  // NOLINTNEXTLINE(bugprone-use-after-move): a refused submit has taken nothing.
  Landing& left = one.front();
  kept_.add();
  const bool delivered = left.outcome == BusOutcome::delivered;
  Result<Sent> answer = delivered ? Result<Sent>(Sent{.id = left.flight.message.id})
                                  : refused(SendResult::unconfirmed);
  finish(std::move(left.flight), answer);
}

std::vector<BusPath::Nothing> BusPath::settle(std::span<Landing> landings) {
  std::vector<store::KeySettlement> keys;
  for (const Landing& landing : landings) {
    const Flight& flight = landing.flight;
    if (flight.message.call.key.empty()) continue;
    store::KeyEnd end = store::KeyEnd::left;
    if (landing.outcome == BusOutcome::delivered) {
      end = store::KeyEnd::accepted;
    } else if (landing.outcome == BusOutcome::lost && !flight.retaken) {
      end = store::KeyEnd::dropped;  // the first request of a claim that was left may be there
    }
    keys.push_back({.user = flight.message.call.user,
                    .key = flight.message.call.key,
                    .claim = flight.claim,
                    .end = end});
  }
  const auto mine = ports_.keys.settle(keys, std::nullopt);
  if (!mine) log_.warn("gateway.keys_not_settled", {{"error", mine.error().what}});
  std::vector<store::GiveBack> back;
  std::vector<bool> given;
  std::size_t next = 0;
  for (const Landing& landing : landings) {
    const Flight& flight = landing.flight;
    bool free = true;  // no key that somebody could go on with stands for this charge
    if (!flight.message.call.key.empty()) {
      free = mine && (*mine)[next];
      ++next;
    }
    given.push_back(landing.outcome == BusOutcome::lost && !flight.retaken && free);
    if (given.back()) {
      back.push_back(
          {.user = flight.message.call.user, .cost = flight.message.cost, .window = flight.window});
    }
  }
  give_back(back);
  for (std::size_t i = 0; i < landings.size(); ++i) {
    Flight& flight = landings[i].flight;
    if (landings[i].outcome == BusOutcome::delivered) {
      ItemId id = flight.message.id;
      finish(std::move(flight), Sent{.id = std::move(id)});
      continue;
    }
    if (!given[i]) kept_.add();
    finish(std::move(flight),
           refused(given[i] ? SendResult::unpublished : SendResult::unconfirmed));
  }
  return std::vector<Nothing>(landings.size());
}

void BusPath::give_back(std::span<const store::GiveBack> charges) {
  if (charges.empty()) return;
  const Result<void> given = ports_.gate.give_back(charges);
  if (given) return;
  kept_.add(charges.size());
  log_.warn("gateway.charges_kept", {{"charges", charges.size()}, {"error", given.error().what}});
}

void BusPath::finish(Flight&& flight, const Result<Sent>& answer) {
  std::vector<Flight> same_key = std::move(flight.same_key);
  const core::BodyDigest digest = flight.message.call.digest;
  const std::shared_ptr<Request> request = std::move(flight.request);
  tally_.count(flight.message.call.user, answer, ports_.clock.now(), SentCount::by_tally);
  request->answers[flight.place] = answer;
  if (--request->left == 0) request->done(std::move(request->answers));
  for (Flight& other : same_key) {
    Result<Sent> its = answer;
    if (other.message.call.digest != digest) {
      its = refused(SendResult::different);
    } else if (its && its->result == SendResult::sent) {
      its->result = SendResult::repeated;
    }
    finish(std::move(other), its);
  }
  const std::lock_guard lock(mutex_);
  if (--under_way_ == 0) landed_.notify_all();
}

}  // namespace penstock::service
