// What the intakes of topics have in common: each message is read, all that could be are taken in
// at once, and each gets its verdict.
#pragma once

#include <future>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/kafka/consumer.h"

namespace penstock::front {

inline kafka::Verdict poison(std::string reason) {
  return {.kind = kafka::Verdict::Kind::poison, .reason = std::move(reason)};
}

// Whether an error is the message's fault: `poison`, or the store's: `retry`.
kafka::Verdict verdict_of(const Error& error);

// `read(message)` -> Result<Call>; `take(calls, done)` answers each of them once, in order, here or
// on another thread; `judge(answer)` -> Verdict, there.
template <class Answer, class Read, class Take, class Judge>
std::future<std::vector<kafka::Verdict>> take_messages(
    std::span<const kafka::IncomingMessage> messages, Read&& read, Take&& take, Judge judge) {
  using Call = typename decltype(read(messages[0]))::value_type;
  std::vector<kafka::Verdict> verdicts(messages.size());
  std::vector<Call> calls;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    Result<Call> call = read(messages[i]);
    if (!call) {
      verdicts[i] = poison(call.error().what);
      continue;
    }
    calls.push_back(std::move(*call));
    places.push_back(i);
  }
  std::promise<std::vector<kafka::Verdict>> promise;
  std::future<std::vector<kafka::Verdict>> future = promise.get_future();
  take(std::move(calls), [promise = std::move(promise), verdicts = std::move(verdicts),
                          places = std::move(places), judge](std::vector<Answer> answers) mutable {
    for (std::size_t i = 0; i < places.size(); ++i) verdicts[places[i]] = judge(answers[i]);
    promise.set_value(std::move(verdicts));
  });
  return future;
}

}  // namespace penstock::front
