// Random histories, run by the backend and by the model, which must agree on every answer.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "store/slots/conformance/harness.h"
#include "store/slots/conformance/model.h"

namespace penstock::store::conformance {

// Draws operations from one seed: three configs, two of them in one pool, whose maxima, sizes and
// pools change; times that crowd into few windows, with some far off; repeated events.
class History {
 public:
  explicit History(std::uint64_t seed) : rng_(seed) {}

  Rng& rng() { return rng_; }
  Instant now() const { return now_; }
  void pass_time() { now_ += Micros{rng_.between(0, 3'000'000)}; }

  core::SlotConfigDraft draft() {
    const std::string name = config();
    // Mostly the usual pool and size, so that changes of the maximum are what happens most.
    const std::string pool = name == "alone" ? "alone" : rng_.below(10) == 0 ? "third" : "shared";
    const std::array<Millis, 4> sizes = {Seconds{1}, Seconds{1}, Seconds{1}, Millis{250}};
    return {.name = config_name(name),
            .pool = pool_name(pool),
            .max_per_window = rng_.between(1, 9),
            .window_size = name == "alone" ? Millis{700} : sizes[rng_.below(sizes.size())]};
  }

  SlotRequest request() {
    SlotRequest request;
    request.event = event("event-" + std::to_string(rng_.below(3'000)));
    request.config_name = config_name(rng_.below(40) == 0 ? "unknown" : config());
    request.requested = cut_to_millis(now_ + Millis{requested_offset()});
    request.max_delay = Millis{rng_.below(4) == 0 ? rng_.between(0, 2'000) : 600'000};
    request.entropy = rng_();
    return request;
  }

 private:
  std::string config() {
    return std::array<const char*, 3>{"card", "wire", "alone"}[rng_.below(3)];
  }

  std::int64_t requested_offset() {
    switch (rng_.below(10)) {
      case 0:
        return rng_.between(-86'400'000, 0);  // long past
      case 1:
        return rng_.between(0, 86'400'000);  // far ahead
      default:
        return rng_.between(-2'000, 20'000);
    }
  }

  Rng rng_;
  Instant now_ = kNoon;
};

inline void expect_same(const Result<Assignment>& real, const Result<Assignment>& model) {
  ASSERT_EQ(real.has_value(), model.has_value())
      << (real ? "the model refuses: " + model.error().what : "refused: " + real.error().what);
  if (!real) {
    EXPECT_EQ(real.error().kind, model.error().kind) << real.error().what;
    return;
  }
  EXPECT_EQ(real->slot, model->slot)
      << real->slot.event.str() << " is scheduled at " << to_epoch_millis(real->slot.scheduled)
      << " and should be at " << to_epoch_millis(model->slot.scheduled);
  EXPECT_EQ(real->fresh, model->fresh);
  EXPECT_EQ(real->depth, model->depth);
}

inline void expect_same(const Result<SlotConfigChange>& real,
                        const Result<SlotConfigChange>& model) {
  ASSERT_EQ(real.has_value(), model.has_value())
      << (real ? "the model refuses: " + model.error().what : "refused: " + real.error().what);
  if (!real) {
    EXPECT_EQ(real.error().kind, model.error().kind);
    return;
  }
  EXPECT_EQ(real->current, model->current);
  EXPECT_EQ(real->previous, model->previous);
}

class DifferentialSuite : public SlotSuite {
 protected:
  void run(std::uint64_t seed, int steps) {
    History history(seed);
    Model model;
    for (int step = 0; step < steps && !HasFatalFailure(); ++step) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", step " + std::to_string(step));
      history.pass_time();
      if (step == 0 || history.rng().below(12) == 0) {
        const core::SlotConfigDraft wanted = history.draft();
        expect_same(configs().put(wanted, history.now()), model.put(wanted, history.now()));
      } else {
        assign_some(history, model);
      }
      if (HasNonfatalFailure()) return;  // the rest would only repeat it
      if (step % 100 == 99) harness().reopen();
      if (step % 50 == 49) expect_same_contents(model, history.now());
    }
    expect_same_contents(model, history.now());
  }

 private:
  void assign_some(History& history, Model& model) {
    std::vector<SlotRequest> requests;
    const std::uint64_t count =
        history.rng().below(8) == 0 ? history.rng().below(120) + 1 : history.rng().below(12) + 1;
    for (std::uint64_t i = 0; i < count; ++i) requests.push_back(history.request());
    const auto answers = slots().assign(requests, history.now());
    ASSERT_EQ(answers.size(), requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i) {
      expect_same(answers[i], model.assign(requests[i], history.now()));
      if (HasFailure()) return;
    }
  }

  void expect_same_contents(const Model& model, Instant now) {
    EXPECT_EQ(all_slots(), model.scan());
    const auto list = configs().list(ConfigName{}, 100);
    ASSERT_TRUE(list);
    EXPECT_EQ(*list, model.list());
    for (const core::SlotConfig& config : *list) {
      const auto versions = configs().history(config.name, SIZE_MAX);
      ASSERT_TRUE(versions);
      EXPECT_EQ(*versions, model.history(config.name));
      for (const Millis size : {Millis{1'000}, Millis{250}, Millis{700}}) {
        EXPECT_EQ(windows(config.pool.str(), size),
                  model.windows(config.pool, size, kInstantMin, kInstantEnd));
        EXPECT_EQ(windows(config.pool.str(), size, now, now + Seconds{5}),
                  model.windows(config.pool, size, now, now + Seconds{5}));
      }
    }
    const std::vector<EventId> events = {event("event-1"), event("event-2"), event("nobody")};
    const auto found = slots().find(events);
    ASSERT_TRUE(found);
    for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ((*found)[i], model.find(events[i]));
  }
};

TEST_P(DifferentialSuite, decides_as_the_model_does) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    run(seed, 400);
    if (HasFailure()) return;
    SetUp();  // a fresh backend
  }
}

}  // namespace penstock::store::conformance
