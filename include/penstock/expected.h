// A value, or what is wrong with the caller's input. Nothing in this library throws but for want of
// memory. Much like std::expected, which needs C++23; these headers need C++20.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace penstock {
inline namespace v0 {

struct Problem {
  std::string field;  // the input at fault: "capacity", "trusted_proxies"
  std::string what;   // for people
};

// Asking a failed one for its value, or a good one for its problem, is a mistake of the caller's
// and throws std::bad_variant_access.
template <class T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Expected(Problem problem) : state_(std::in_place_index<1>, std::move(problem)) {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Problem& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Problem> state_;
};

template <>
class [[nodiscard]] Expected<void> {
 public:
  Expected() = default;
  Expected(Problem problem) : state_(std::in_place_index<1>, std::move(problem)) {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  const Problem& error() const { return std::get<1>(state_); }

 private:
  std::variant<std::monostate, Problem> state_;
};

}  // namespace v0
}  // namespace penstock
