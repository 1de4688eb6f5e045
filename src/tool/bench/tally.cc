#include "tool/bench/tally.h"

namespace penstock::tool::bench {

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
