#include "store/limits/redis/decider.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "store/limits/redis/plan.h"
#include "store/limits/redis/value.h"

namespace penstock::store::redis {

void Decider::run(std::span<Part> parts, std::optional<Instant> now,
                  const runtime::Deadline& deadline) {
  std::vector<std::size_t> pending(parts.size());
  std::iota(pending.begin(), pending.end(), std::size_t{0});
  while (!pending.empty()) {
    Plan plan = plan_calls(parts, pending,
                           {.prefix = prefix_,
                            .by_slot = client_.cluster(),
                            .all_here = now && now->time_since_epoch().count() > 2 * kExactMax});
    by_script(parts, plan, now, deadline, plan.here);
    std::ranges::sort(plan.here);
    by_core(parts, plan.here, now, deadline);
    pending = std::move(plan.later);
  }
}

void Decider::by_script(std::span<Part> parts, const Plan& plan, std::optional<Instant> now,
                        const runtime::Deadline& deadline, std::vector<std::size_t>& back) {
  if (plan.calls.empty()) return;
  std::vector<Command> commands;
  commands.reserve(plan.calls.size());
  for (const ScriptCall& call : plan.calls) {
    commands.push_back(
        call.command({.prefix = prefix_, .now = now, .grace = now ? kGraceGiven : kGrace}));
  }
  const std::vector<Result<Reply>> replies = client_.run(commands, deadline);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const Result<void> read = replies[i] ? plan.calls[i].read(replies[i]->top().text, parts, back)
                                         : Result<void>(std::unexpected(replies[i].error()));
    if (read) continue;
    for (const std::size_t index : plan.calls[i].parts()) {
      parts[index].admitted = std::unexpected(read.error());
    }
  }
}

}  // namespace penstock::store::redis
