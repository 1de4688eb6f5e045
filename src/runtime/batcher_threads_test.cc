// The batcher under many callers at once; most telling under TSAN.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "runtime/batcher.h"

namespace penstock::runtime {
namespace {

constexpr std::size_t kClients = 8;
constexpr std::size_t kGroups = 300;  // of each thread
constexpr std::size_t kGroupMax = 5;
constexpr std::size_t kQueueMax = 64;  // small, so that refusals happen
constexpr std::size_t kBatchMax = 16;

struct Command {
  std::uint64_t value = 0;
};

using Numbers = std::vector<std::uint64_t>;

void run(std::size_t workers) {
  std::atomic<std::size_t> executed = 0;
  std::atomic<std::size_t> largest = 0;
  std::vector<std::atomic<int>> answered(kClients * kGroups);
  std::atomic<std::size_t> wrong = 0;
  std::atomic<std::size_t> sent = 0;
  Batcher<Command, std::uint64_t> batcher(
      {.name = "storm", .workers = workers, .queue_max = kQueueMax, .batch_max = kBatchMax},
      [&](std::span<Command> commands) {
        executed += commands.size();
        std::size_t seen = largest;
        while (seen < commands.size() && !largest.compare_exchange_weak(seen, commands.size())) {
        }
        Numbers answers;
        for (const Command& command : commands) answers.push_back(mix64(command.value));
        return answers;
      });

  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < kClients; ++t) {
      threads.emplace_back([&, t] {
        Rng rng(t);
        for (std::size_t g = 0; g < kGroups; ++g) {
          std::vector<Command> group(1 + rng.below(kGroupMax));
          Numbers expected;
          for (Command& command : group) {
            command.value = rng();
            expected.push_back(mix64(command.value));
          }
          sent += group.size();
          Batcher<Command, std::uint64_t>::Done done =
              [&wrong, &times = answered[t * kGroups + g],
               expected = std::move(expected)](const Numbers& answers) {
                wrong += answers != expected ? 1 : 0;
                ++times;
              };
          // A refusal must leave both with us, so that the same ones can be offered again.
          while (!batcher.submit(std::move(group), std::move(done))) std::this_thread::yield();
        }
      });
    }
  }
  batcher.stop();
  EXPECT_EQ(wrong, 0U);
  EXPECT_TRUE(std::ranges::all_of(answered, [](const auto& times) { return times == 1; }));
  EXPECT_EQ(executed, sent);
  EXPECT_LE(largest, kBatchMax);
  EXPECT_EQ(batcher.waiting(), 0U);
}

TEST(BatcherThreads, answer_every_group_exactly_once_with_one_worker) { run(1); }
TEST(BatcherThreads, answer_every_group_exactly_once_with_several_workers) { run(3); }

TEST(BatcherThreads, answer_every_group_that_was_taken_while_stopping) {
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> taken = 0;
    std::atomic<int> answered = 0;
    Batcher<int, int> batcher(
        {.name = "storm", .workers = 2, .queue_max = kQueueMax, .batch_max = kBatchMax},
        [](std::span<int> commands) { return std::vector<int>(commands.begin(), commands.end()); });
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < kClients; ++t) {
      threads.emplace_back([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          if (batcher.submit({1}, [&answered](const std::vector<int>&) { ++answered; })) ++taken;
        }
      });
    }
    while (answered < 50) std::this_thread::yield();
    batcher.stop();
    const int at_stop = answered;
    threads.clear();
    EXPECT_EQ(answered, taken);
    EXPECT_EQ(answered, at_stop) << "answered after stop() returned";
  }
}

}  // namespace
}  // namespace penstock::runtime
