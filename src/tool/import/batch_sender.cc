#include "tool/import/batch_sender.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/iso8601.h"
#include "runtime/clocks.h"

namespace penstock::tool {
namespace {

constexpr Millis kBackoffFirst{100};
constexpr Millis kBackoffMax = Seconds{5};
constexpr Millis kRetryAfterMax = Seconds{60};  // a longer wait is noticed late when it was wrong

}  // namespace

void SenderShared::set_waiting_for(std::string why) {
  const std::lock_guard lock(mutex_);
  waiting_for_ = std::move(why);
}

std::string SenderShared::waiting_for() const {
  const std::lock_guard lock(mutex_);
  return waiting_for_;
}

struct BatchSender::Streak {
  Millis backoff = kBackoffFirst;
  Millis slept{0};
  runtime::Stopwatch watch;

  Millis lasted() const {
    return std::max(slept, Millis{static_cast<std::int64_t>(watch.seconds() * 1000)});
  }
};

std::expected<Answered, ImportStop> BatchSender::send(std::span<const Record> records) {
  Answered answers(records.size());
  Indexes sendable;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].problem.empty()) {
      sendable.push_back(i);
    } else {
      answers[i].fate = LineFate::rejected;
      answers[i].reason = "the line " + records[i].problem;
    }
  }
  if (auto sent = send_some(records, sendable, answers); !sent) {
    return std::unexpected(std::move(sent.error()));
  }
  return answers;
}

std::expected<void, ImportStop> BatchSender::send_some(std::span<const Record> records,
                                                       std::span<const std::size_t> which,
                                                       Answered& answers) {
  Indexes left(which.begin(), which.end());
  Streak streak;
  while (!left.empty()) {
    if (shared_.stopped()) return std::unexpected(ImportStop{ImportEnd::interrupted, ""});
    std::string body;
    for (const std::size_t i : left) body.append(records[i].json).append("\n");

    const Result<http::HttpAnswer> answer = send_(body);
    if (!answer) {
      auto paused = pause(streak, Millis{0}, answer.error().what, ImportEnd::unreachable);
      if (!paused) return paused;
      continue;
    }
    shared_.answered = true;
    BatchVerdict verdict = judge_answer(*answer, left.size(), shared_.read_line);
    if (auto* give_up = std::get_if<GiveUp>(&verdict)) {
      return std::unexpected(ImportStop{ImportEnd::refused, std::move(give_up->why)});
    }
    if (std::holds_alternative<SendHalves>(verdict)) {
      const std::span<const std::size_t> all(left);
      auto first = send_some(records, all.first(left.size() / 2), answers);
      if (!first) return first;
      return send_some(records, all.subspan(left.size() / 2), answers);
    }
    if (auto* again = std::get_if<SendAgain>(&verdict)) {
      auto paused = pause(streak, again->after, again->why, ImportEnd::refused);
      if (!paused) return paused;
      continue;
    }

    Indexes again;
    Answered& answered = std::get<Answered>(verdict);
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (answered[i].again) again.push_back(left[i]);
      answers[left[i]] = std::move(answered[i]);
    }
    if (again.size() < left.size()) streak = {};
    left = std::move(again);
    if (!left.empty()) {
      auto paused = pause(streak, Millis{0}, answers[left.front()].reason, ImportEnd::refused);
      if (!paused) return paused;
    }
  }
  shared_.set_waiting_for("");
  return {};
}

std::expected<void, ImportStop> BatchSender::pause(Streak& streak, Millis asked,
                                                   const std::string& why, ImportEnd end) {
  const Millis patience =
      shared_.answered ? shared_.patience.after : shared_.patience.before_first_answer;
  if (streak.lasted() >= patience) {
    return std::unexpected(
        ImportStop{end, fmt::format("{} (gave up after {})", why, format_duration(patience))});
  }
  ++shared_.retries;
  shared_.set_waiting_for(why);
  const Millis delay = asked > Millis{0} ? std::min(asked, kRetryAfterMax) : streak.backoff;
  streak.backoff = std::min(streak.backoff * 2, kBackoffMax);
  streak.slept += delay;
  shared_.sleep(delay);
  return {};
}

}  // namespace penstock::tool
