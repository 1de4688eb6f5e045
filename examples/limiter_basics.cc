// Limits inside of a program: policies, a check, several keys at once, giving back, a bound key.
#include <penstock/limiter.h>

#include <array>
#include <iostream>
#include <string_view>

int main() {
  auto made = penstock::Limiter::make();
  if (!made) {
    std::cerr << made.error().what << '\n';
    return 1;
  }
  penstock::Limiter limiter = *std::move(made);

  // Every user may do three things at once, and one more every two seconds.
  penstock::Policy per_user;
  per_user.key = "user:*";
  per_user.capacity = 3;
  per_user.refill = penstock::refill_per_second("0.5");
  // All payments together: at most a thousand in any minute.
  penstock::Policy payments;
  payments.key = "route:/v1/pay";
  payments.algorithm = penstock::Algorithm::sliding_window_counter;
  payments.capacity = 1'000;
  payments.window = std::chrono::minutes{1};
  for (const penstock::Policy& policy : {per_user, payments}) {
    if (const auto set = limiter.set_policy(policy); !set) {
      std::cerr << set.error().what << '\n';
      return 1;
    }
  }

  // Both limits allow and both are charged, or neither is.
  const std::array<std::string_view, 2> keys = {"user:123", "route:/v1/pay"};
  for (int i = 1; i <= 4; ++i) {
    const penstock::Decision decision = limiter.check_all(keys);
    std::cout << "payment " << i << ": ";
    if (decision.allowed) {
      std::cout << "allowed, " << decision.remaining << " left of " << decision.key << '\n';
    } else {
      const auto wait = std::chrono::ceil<std::chrono::seconds>(decision.retry_after);
      std::cout << "denied by " << decision.key << ", again in " << wait.count() << " s\n";
    }
  }

  // A payment that came to nothing is no use of the limit.
  limiter.give_back("user:123");
  std::cout << "after giving back: " << limiter.peek("user:123").remaining << " left\n";

  // What every request asks for is bound once, and then not looked for again.
  auto bound = limiter.bind("route:/v1/pay");
  if (!bound) {
    std::cerr << bound.error().what << '\n';
    return 1;
  }
  penstock::BoundKey route = *std::move(bound);
  const penstock::Decision decision = route.check();
  std::cout << "of the route: " << decision.remaining << " left of " << decision.limit << '\n';
}
