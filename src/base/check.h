// PENSTOCK_CHECK: stops the process on a broken invariant of our own. On in every build; what the
// outside world can cause is a Result, never a check.
#pragma once

namespace penstock::base {
[[noreturn]] void check_failed(const char* condition, const char* file, int line) noexcept;
}  // namespace penstock::base

#define PENSTOCK_CHECK(condition)                      \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::penstock::base::check_failed(#condition, __FILE__, __LINE__))
