// The inside of a BoundKey, for Limiter, which makes it.
#pragma once

#include <penstock/limiter.h>

#include <memory>
#include <string_view>
#include <utility>

#include "library/engine.h"
#include "library/limiter_impl.h"

namespace penstock {
inline namespace v0 {

struct __attribute__((visibility("hidden"))) BoundKey::Impl {
  Impl(std::shared_ptr<Limiter::Impl> of, std::string_view key)
      : limiter(std::move(of)), entry(limiter->bind(key)) {}

  const std::shared_ptr<Limiter::Impl> limiter;
  library::BoundEntry entry;
};

}  // namespace v0
}  // namespace penstock
