// For tests: the answer of a call that gives it later.
#pragma once

#include <future>
#include <memory>
#include <utility>

namespace penstock::service {

// Calls `start(done)` and waits for what it hands to `done`.
template <class T, class Start>
T answer_of(const Start& start) {
  // Shared: who sets it may not have let go of it when the one who waits goes on.
  const auto promise = std::make_shared<std::promise<T>>();
  auto answer = promise->get_future();
  start([promise](T value) { promise->set_value(std::move(value)); });
  return answer.get();
}

}  // namespace penstock::service
