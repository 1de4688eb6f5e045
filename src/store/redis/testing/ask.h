// Short words for requests in the tests of this room. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "core/limits/decide.h"
#include "runtime/clocks.h"
#include "store/limits/ports.h"
#include "store/redis/store.h"

namespace penstock::store::redis {

inline core::Limit bucket_of(std::int64_t capacity, core::Rate refill = {1, 3'600'000'000}) {
  return {.type = core::LimitType::token_bucket,
          .capacity = capacity,
          .refill = refill,
          .window = Seconds{60}};
}

inline core::Limit fixed_of(std::int64_t capacity, Seconds window = Seconds{86'400}) {
  return {.type = core::LimitType::fixed_window, .capacity = capacity, .window = window};
}

// One request about one key.
inline Result<bool> ask(RedisStore& store, std::string_view key, const core::Limit& limit,
                        std::int64_t cost = 1, std::optional<Instant> now = std::nullopt) {
  const std::array<LimitCheck, 1> checks = {LimitCheck{.key = key, .limit = limit}};
  std::array<core::LimitStatus, 1> statuses;
  const LimitRequest request{.checks = checks, .cost = cost, .statuses = statuses};
  std::vector<Result<LimitAnswer>> answers(1, fail(ErrorKind::corrupt, "no answer"));
  store.backend().limits.store->apply({&request, 1}, now, answers);
  if (!answers[0]) return std::unexpected(answers[0].error());
  return answers[0]->admitted;
}

inline std::int64_t used_of(RedisStore& store, std::string_view key) {
  const auto use = store.backend().limits.store->find(key, std::nullopt);
  EXPECT_TRUE(use) << use.error().what;
  return use && *use ? (*use)->used : 0;
}

// Tries again until it works, as a client would; the store must come back by itself.
inline Result<bool> ask_in_the_end(RedisStore& store, std::string_view key,
                                   const core::Limit& limit) {
  const runtime::Stopwatch watch;
  for (;;) {
    Result<bool> answer = ask(store, key, limit);
    if (answer || watch.seconds() > 30) return answer;
    std::this_thread::yield();
  }
}

}  // namespace penstock::store::redis
