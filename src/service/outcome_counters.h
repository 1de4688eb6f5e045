// Counters of one metric, one for each outcome. The outcomes are an enum from 0; their names, in
// the same order, become the label `outcome`.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "runtime/metrics.h"

namespace penstock::service {

template <class Outcome, std::size_t count>
class OutcomeCounters {
 public:
  // `metrics` must outlive this.
  OutcomeCounters(runtime::Metrics& metrics, const std::string& name, const std::string& help,
                  const std::array<std::string_view, count>& outcomes) {
    for (std::size_t i = 0; i < count; ++i) {
      counters_[i] = &metrics.counter(name, help, {{"outcome", std::string(outcomes[i])}});
    }
  }

  runtime::Counter& operator[](Outcome outcome) const noexcept {
    return *counters_[static_cast<std::size_t>(outcome)];
  }

 private:
  std::array<runtime::Counter*, count> counters_;
};

}  // namespace penstock::service
