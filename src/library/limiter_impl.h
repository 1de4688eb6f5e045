// The inside of a Limiter, for Filter, which shares it.
#pragma once

#include <penstock/limiter.h>

#include "library/engine.h"

namespace penstock {
inline namespace v0 {

class __attribute__((visibility("hidden"))) Limiter::Impl : public library::Engine {
 public:
  using Engine::Engine;
};

}  // namespace v0
}  // namespace penstock
