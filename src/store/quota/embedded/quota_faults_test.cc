// What a failed write and a power cut leave of quotas and their messages: both or neither.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/time.h"
#include "core/gateway/message.h"
#include "store/embedded/testing/faults.h"

namespace penstock::store::embedded {
namespace {

constexpr UserId kUser{101};

class QuotaFaults : public FaultsTest {
 protected:
  void put(std::int64_t limit) {
    ASSERT_TRUE(parts_->quotas.put(kUser, {.rate_limit = limit, .window = core::Minutes{600}},
                                   std::nullopt));
  }
  Send message(std::string key = {}) {
    ++drawn_;
    return {.user = kUser,
            .id = core::make_message_id(kStart, kUser, mix64(drawn_), 0),
            .key = std::move(key),
            .context = "{}"};
  }
  std::vector<Result<Sent>> send(const std::vector<Send>& sends) {
    return parts_->quotas.send(sends, std::nullopt);
  }
  std::int64_t count() { return (*parts_->quotas.find(kUser))->count; }
  std::uint64_t queued() { return parts_->queue.summary(message_item_type())->counts[0]; }

  std::uint64_t drawn_ = 0;
};

TEST_F(QuotaFaults, a_failed_append_counts_nothing_and_keeps_no_key) {
  put(3);
  ASSERT_TRUE(send({message()})[0]);
  disk_->set(Fault::append_fails);
  for (int i = 0; i < 4; ++i) {
    for (const auto& answer : send({message("k"), message()})) {
      ASSERT_FALSE(answer);
      EXPECT_EQ(answer.error().kind, ErrorKind::unavailable);
    }
    EXPECT_EQ(count(), 1);
  }
  heal();
  EXPECT_EQ(count(), 1);
  EXPECT_EQ(queued(), 1U);
  EXPECT_EQ(send({message("k")})[0]->result, SendResult::sent);
  EXPECT_EQ(count(), 2);
}

TEST_F(QuotaFaults, who_is_limited_hears_it_though_nothing_can_be_written) {
  put(1);
  const Send first = message("k");
  ASSERT_TRUE(send({first})[0]);
  disk_->set(Fault::append_fails);
  EXPECT_EQ(send({message()})[0]->result, SendResult::limited);
  EXPECT_EQ(send({message("k")})[0]->id, first.id);
  EXPECT_FALSE(parts_->quotas.put(kUser, {.rate_limit = 5, .window = core::Minutes{1}}, kStart));
  EXPECT_FALSE(parts_->quotas.remove(kUser));
  heal();
  EXPECT_EQ((*parts_->quotas.find(kUser))->rule.rate_limit, 1);
}

TEST_F(QuotaFaults, one_sync_makes_a_batch_durable_and_a_refusal_needs_none) {
  put(100);
  std::vector<Send> sends;
  for (int i = 0; i < 100; ++i) sends.push_back(message("k" + std::to_string(i)));
  const auto syncs = [&](const std::vector<Send>& batch) {
    const int before = disk_->log_syncs();
    for (const auto& answer : send(batch)) EXPECT_TRUE(answer);
    return disk_->log_syncs() - before;
  };
  EXPECT_EQ(syncs(sends), 1);
  EXPECT_EQ(syncs({message(), message()}), 0) << "limited";
  EXPECT_EQ(syncs(sends), 0) << "repeated";
}

TEST_F(QuotaFaults, a_power_cut_leaves_every_acknowledged_message_and_no_count_without_one) {
  Rng rng(5);
  put(1'000'000);
  std::uint64_t acknowledged = 0;
  for (int round = 0; round < 12; ++round) {
    for (std::uint64_t i = 1 + rng.below(6); i-- > 0;) {
      std::vector<Send> sends;
      for (std::uint64_t n = 1 + rng.below(5); n-- > 0;) sends.push_back(message());
      for (const auto& answer : send(sends)) acknowledged += answer ? 1 : 0;
    }
    const Fault faults[] = {Fault::append_fails, Fault::append_tears, Fault::sync_fails};
    disk_->set(faults[rng.below(3)]);
    for (const auto& answer : send({message(), message()})) EXPECT_FALSE(answer);
    cut_power_and_restart();
    const auto counted = static_cast<std::uint64_t>(count());
    EXPECT_EQ(queued(), counted) << "round " << round;
    EXPECT_GE(counted, acknowledged);
    acknowledged = counted;  // a batch whose outcome was unknown may be there
  }
}

}  // namespace
}  // namespace penstock::store::embedded
