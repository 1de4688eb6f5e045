#include <penstock/limiter.h>

#include <memory>
#include <utility>

#include "library/bound_key_impl.h"

namespace penstock {
inline namespace v0 {

BoundKey::BoundKey(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
BoundKey::BoundKey(BoundKey&& other) noexcept = default;
BoundKey& BoundKey::operator=(BoundKey&& other) noexcept = default;
BoundKey::~BoundKey() = default;

Decision BoundKey::check(std::int64_t cost) {
  if (static_cast<std::uint64_t>(cost) > core::kCostMax) [[unlikely]]
    return {.error = CheckError::bad_cost};
  return impl_->limiter->decide_bound(impl_->entry, cost);
}

Decision BoundKey::peek() const { return impl_->limiter->decide_bound(impl_->entry, 0); }

Decision BoundKey::give_back(std::int64_t cost) {
  if (cost < 0 || cost > core::kCostMax) return {.error = CheckError::bad_cost};
  return impl_->limiter->decide_bound(impl_->entry, -cost);
}

std::string_view BoundKey::key() const noexcept { return impl_->entry.key.text(); }

}  // namespace v0
}  // namespace penstock
