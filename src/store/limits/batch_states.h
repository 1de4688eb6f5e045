// The states behind a batch of requests, for engines that lend them out: read all, decide by the
// core, write back what changed. Each key stands here once, in the order of the keys' bytes, so
// that every node locks rows in one order; its checks are decided one after the other against one
// read. One thread at a time; `requests` and their keys outlive this.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/limits/limit_record.h"
#include "store/limits/ports.h"

namespace penstock::store {

class BatchStates {
 public:
  struct Change {
    std::size_t key = 0;  // index into keys()
    std::string record;
    Instant idle_at{};
  };

  // Requests with a key that may not be one are refused, and no others; such keys are not in
  // keys().
  explicit BatchStates(std::span<const LimitRequest> requests);

  std::span<const std::string_view> keys() const noexcept { return keys_; }
  bool only_looks() const noexcept { return only_looks_; }  // no request can change anything

  // The record the engine holds for keys()[key]; a key that is not loaded is new. Bytes that are no
  // record fail the requests that need them, and no others.
  void load(std::size_t key, std::string_view record);

  // Answers every request, in their order. Once.
  void decide(Instant now, std::span<Result<LimitAnswer>> answers);

  // What decide() changed, in the order of keys().
  std::vector<Change> changes() const;

 private:
  struct Slot {
    LimitRecord record;
    std::optional<Error> error;
    bool changed = false;
  };

  Result<LimitAnswer> decide_one(const LimitRequest& request, std::span<const std::size_t> slots,
                                 Instant now);

  std::span<const LimitRequest> requests_;
  bool only_looks_ = true;
  std::vector<std::string_view> keys_;
  std::vector<Slot> slots_;          // of keys_
  std::vector<std::size_t> places_;  // for each check of each request, its key, or kNoKey
};

}  // namespace penstock::store
