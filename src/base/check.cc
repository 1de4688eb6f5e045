#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace penstock::base {

void check_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "penstock: broken invariant: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace penstock::base
