#include "tool/bench/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace penstock::tool::bench {

namespace {

constexpr std::uint64_t kExact = 256;  // values below stand alone
constexpr std::uint64_t kHalf = kExact / 2;

}  // namespace

std::size_t LatencyHistogram::step_of(std::uint64_t micros) noexcept {
  if (micros < kExact) return micros;
  const auto shift = static_cast<std::size_t>(std::bit_width(micros)) - 8;
  return kExact + (shift - 1) * kHalf + ((micros >> shift) - kHalf);
}

std::uint64_t LatencyHistogram::end_of(std::size_t step) noexcept {
  if (step < kExact) return step;
  const std::size_t shift = (step - kExact) / kHalf + 1;
  const std::uint64_t top = (step - kExact) % kHalf + kHalf;
  return ((top + 1) << shift) - 1;
}

void LatencyHistogram::record(Micros latency) noexcept {
  const std::int64_t micros = std::clamp<std::int64_t>(latency.count(), 0, kMax.count());
  ++counts_[step_of(static_cast<std::uint64_t>(micros))];
  ++count_;
  sum_ += static_cast<double>(micros);
  min_ = std::min(min_, micros);
  max_ = std::max(max_, micros);
}

void LatencyHistogram::add(const LatencyHistogram& other) noexcept {
  for (std::size_t i = 0; i < kSteps; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

double LatencyHistogram::mean_micros() const noexcept {
  return count_ == 0 ? 0 : sum_ / static_cast<double>(count_);
}

Micros LatencyHistogram::at(double share) const noexcept {
  if (count_ == 0) return Micros{0};
  const double wanted = std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(count_));
  const auto rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1, count_);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kSteps; ++i) {
    seen += counts_[i];
    if (seen >= rank) return Micros{std::min(static_cast<std::int64_t>(end_of(i)), max_)};
  }
  return Micros{max_};
}

void Tally::add(const Tally& other) {
  latencies.add(other.latencies);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] += other.codes[i];
  static constexpr std::uint64_t Tally::* kSums[] = {
      &Tally::answers,    &Tally::good_entries,  &Tally::connect_errors, &Tally::lost,
      &Tally::timed_out,  &Tally::malformed,     &Tally::unfinished,     &Tally::unsent,
      &Tally::bytes_sent, &Tally::bytes_received};
  for (const auto member : kSums) this->*member += other.*member;
  if (first_problem.empty()) {
    first_problem = other.first_problem;
    first_problem_code = other.first_problem_code;
  }
}

}  // namespace penstock::tool::bench
