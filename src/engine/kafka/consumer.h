// One member of a consumer group, on a thread of its own: batches go to the handler of their topic,
// several of them at once, and an offset moves on once the handler has said what became of its
// message and all before it.
// A message may come again (after a crash, a rebalance, a lost commit): handlers are idempotent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "engine/kafka/producer.h"
#include "runtime/memory_budget.h"
#include "runtime/metrics.h"

namespace penstock::kafka {

// The texts are the consumer's: see Handler.
struct IncomingMessage {
  std::string_view key;  // empty when there is none
  std::string_view value;
  std::string_view topic;
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  Instant written{};  // as its producer or the broker says
  std::vector<std::pair<std::string_view, std::string_view>> headers;

  // The last one of that name; empty when there is none.
  std::string_view header(std::string_view name) const noexcept {
    for (auto each = headers.rbegin(); each != headers.rend(); ++each) {
      if (each->first == name) return each->second;
    }
    return {};
  }
};

struct Verdict {
  enum class Kind : std::uint8_t {
    ok,      // it is durable where it belongs
    poison,  // it will never be taken: to the dead-letter topic, with the reason
    retry,   // not now (a store is away): it is held, and so is all behind it
  };
  Kind kind = Kind::ok;
  std::string reason;  // of poison and retry, for people
};

// Promises one verdict for each message, in order. Called on the consumer's thread, for the next
// batch maybe before the last one is answered; the texts are there until the answer is, within a
// store's deadline.
using Handler = std::function<std::future<std::vector<Verdict>>(std::span<const IncomingMessage>)>;

inline std::future<std::vector<Verdict>> answered(std::vector<Verdict> verdicts) {
  std::promise<std::vector<Verdict>> promise;
  promise.set_value(std::move(verdicts));
  return promise.get_future();
}

struct ConsumerOptions {
  Connection connection;
  std::string group;
  std::string dead_letter_suffix = ".dlq";
  std::size_t batch_max = 1'000;  // messages to a handler at once
  std::size_t batches_max = 2;  // that handlers have at once; more helps a store with many writers
  // A member that has died is missed after this: its partitions go to the others then.
  Millis session_timeout = Seconds{10};
};

class Consumer {
 public:
  // `handlers` by topic. `invalid` for settings that librdkafka refuses. All must outlive the
  // consumer; `clock` never jumps. Messages draw on `memory`: while it is short, few are taken in.
  static Result<std::unique_ptr<Consumer>> make(const Clock& clock, Log& log,
                                                runtime::Metrics& metrics,
                                                runtime::MemoryBudget& memory,
                                                Producer& dead_letters, ConsumerOptions options,
                                                std::map<std::string, Handler> handlers);
  // Leaves the group, with the offsets of what was answered for.
  ~Consumer();
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  Result<void> health() const;  // why nothing is taken in; does not block

 private:
  class Impl;
  explicit Consumer(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace penstock::kafka
