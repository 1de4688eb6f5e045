// Errors are values: every fallible call returns Result<T>. The kind decides what the caller does,
// `what` is for people and is never parsed, `field` names the input at fault when there is one.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"

namespace penstock {

enum class ErrorKind {
  invalid,      // the caller's input is wrong; the same call fails for ever
  too_large,    // well-formed but over a size limit of the API
  not_found,    // the thing named does not exist
  conflict,     // the thing exists in a state that forbids this
  forbidden,    // not by this way: the thing belongs to another capability, or the token lacks a
                // scope
  limited,      // refused by a limit; allowed again later
  exhausted,    // no capacity within the depth the caller allows
  overloaded,   // a bounded queue is full
  unavailable,  // a store or sink cannot be reached or refuses to work
  timeout,      // no answer before the deadline; the outcome is unknown
  corrupt,      // stored bytes are not what we wrote
};

std::string_view to_string(ErrorKind kind) noexcept;

struct [[nodiscard]] Error {
  ErrorKind kind = ErrorKind::invalid;
  std::string what;
  std::string field = {};
  Millis retry_after = Millis::zero();  // zero = the kind's usual delay

  // Whether the same call may succeed later without anyone changing it.
  bool retryable() const noexcept;
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(ErrorKind kind, std::string what) {
  return std::unexpected(Error{.kind = kind, .what = std::move(what)});
}

inline std::unexpected<Error> invalid_field(std::string_view field, std::string_view problem) {
  return std::unexpected(Error{.kind = ErrorKind::invalid,
                               .what = std::string(field) + ": " + std::string(problem),
                               .field = std::string(field)});
}

// What PENSTOCK_TRY gives, which may be left unused: clang warns where the operator itself stands
// alone.
template <class T>
constexpr decltype(auto) taken(T&& result) {
  return *std::forward<T>(result);
}

}  // namespace penstock

// The value of a Result; its error leaves the calling function, which returns a Result itself:
//   const Limits limits = PENSTOCK_TRY(read_limits(file));
//   PENSTOCK_TRY(check(limits));
// Let it stand alone, as the whole initializer or the whole statement. GCC and Clang accept a
// return inside an expression; the standard has no such form.
// NOLINTBEGIN(cppcoreguidelines-macro-usage,bugprone-macro-parentheses)
#define PENSTOCK_TRY(...) PENSTOCK_TRY_AS(PENSTOCK_TRY_NAME(__COUNTER__), __VA_ARGS__)
#define PENSTOCK_TRY_NAME(number) PENSTOCK_TRY_PASTE(number)
#define PENSTOCK_TRY_PASTE(number) penstock_result_##number
#define PENSTOCK_TRY_AS(result, ...)                                \
  __extension__({                                                   \
    auto&& result = (__VA_ARGS__);                                  \
    if (!result) return std::unexpected(std::move(result).error()); \
    ::penstock::taken(std::move(result));                           \
  })
// NOLINTEND(cppcoreguidelines-macro-usage,bugprone-macro-parentheses)
