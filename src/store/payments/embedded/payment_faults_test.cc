// What a failed write and a power cut leave of payments: each with its item, or neither.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/time.h"
#include "engine/rocksdb/records.h"
#include "store/embedded/testing/faults.h"
#include "store/payments/embedded/payment_encoding.h"

namespace penstock::store::embedded {
namespace {

class PaymentFaults : public FaultsTest {
 protected:
  PaymentStore& payments() { return parts_->payments; }

  static NewPayment payment(const std::string& id,
                            PaymentStatus status = PaymentStatus::scheduled) {
    return {.id = PaymentId::trusted(id),
            .status = status,
            .scheduled = kStart,
            .reason = status == PaymentStatus::scheduled ? "" : "r",
            .body = "{}",
            .context = "{}",
            .digest = {}};
  }
  std::optional<PaymentRecord> record(const std::string& id) {
    return payments().find(PaymentId::trusted(id)).value();
  }
  bool has_item(const std::string& id) {
    return parts_->queue.find(payment_item_type(), ItemId::trusted(id)).value().has_value();
  }

  // Every payment that was ever SCHEDULED has its item, and the indexes say what the records say.
  void expect_sound() {
    const auto view = parts_->engine->view();
    ASSERT_TRUE(view);
    std::size_t payments = 0;
    std::size_t stopped = 0;
    for (Cursor rows(*view, Family::payment, "", ""); rows.valid(); rows.next(), ++payments) {
      const std::string id(rows.key());
      const auto entry = decode_payment(rows.value());
      ASSERT_TRUE(entry) << entry.error().what;
      EXPECT_EQ(has_item(id), !is_indexed(entry->status)) << id;
      stopped += is_indexed(entry->status) ? 1 : 0;
    }
    std::size_t times = 0;
    std::size_t statuses = 0;
    for (Cursor rows(*view, Family::payment_order, "", ""); rows.valid(); rows.next()) {
      ++(rows.key().front() == kPaymentTimeTag ? times : statuses);
    }
    EXPECT_EQ(times, payments);
    EXPECT_EQ(statuses, stopped);
    std::uint64_t items = 0;
    const Result<QueueSummary> summary = parts_->queue.summary(payment_item_type());
    for (const std::uint64_t count : summary->counts) {
      items += count;
    }
    EXPECT_EQ(items, payments - stopped);
  }
};

TEST_F(PaymentFaults, a_failed_take_leaves_neither_payment_nor_item) {
  const std::vector<NewPayment> known = {payment("known")};
  ASSERT_TRUE(payments().take(known, std::nullopt)[0]);
  disk_->set(Fault::append_fails);
  const std::vector<NewPayment> batch = {payment("a"), payment("h", PaymentStatus::held)};
  for (const auto& answer : payments().take(batch, std::nullopt)) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, ErrorKind::unavailable);
  }
  EXPECT_EQ(payments().take(known, std::nullopt)[0]->result, TakeResult::same) << "needs no write";
  heal();
  EXPECT_FALSE(record("a"));
  EXPECT_FALSE(record("h"));
  EXPECT_FALSE(has_item("a"));
  expect_sound();
}

TEST_F(PaymentFaults, random_faults_leave_every_step_in_whole_or_not_at_all) {
  Rng rng(20'251'116);
  std::map<std::string, PaymentStatus> acknowledged;
  for (int step = 0; step < 300; ++step) {
    disk_->set(rng.below(5) == 0 ? static_cast<Fault>(rng.between(1, 3)) : Fault::none);
    const auto any = [&] { return "p" + std::to_string(rng.below(500)); };
    switch (rng.below(4)) {
      case 0: {
        std::vector<NewPayment> batch;
        for (std::uint64_t n = rng.below(20) + 1; n > 0; --n) {
          batch.push_back(
              payment(any(), rng.below(4) == 0 ? PaymentStatus::held : PaymentStatus::scheduled));
        }
        const auto answers = payments().take(batch, std::nullopt);
        for (std::size_t i = 0; i < batch.size(); ++i) {
          if (answers[i]) acknowledged.emplace(batch[i].id.str(), answers[i]->status);
        }
        break;
      }
      case 1: {
        const std::string id = any();
        if (payments().release(payment(id), std::nullopt)) {
          acknowledged[id] = PaymentStatus::scheduled;
        }
        break;
      }
      case 2: {
        const StatusChange change{
            .id = PaymentId::trusted(any()), .to = PaymentStatus::accepted, .detail = {}};
        const auto done = payments().advance({&change, 1}, std::nullopt);
        if (done && done->at(0).result == AdvanceResult::moved) {
          acknowledged[change.id.str()] = PaymentStatus::accepted;
        }
        break;
      }
      default:
        clock_.advance(Millis{600});
        if (rng.below(8) == 0) {
          cut_power_and_restart();
          ASSERT_NE(parts_, nullptr);
          expect_sound();
        }
    }
  }
  heal();
  expect_sound();
  EXPECT_GT(acknowledged.size(), 100U);
  for (const auto& [id, status] : acknowledged) {
    const std::optional<PaymentRecord> kept = record(id);
    ASSERT_TRUE(kept) << id << " was lost";
    // What failed may be there all the same; what was acknowledged is never behind.
    if (status == PaymentStatus::accepted) {
      EXPECT_EQ(kept->status, PaymentStatus::accepted) << id;
    } else if (status == PaymentStatus::scheduled) {
      EXPECT_NE(kept->status, PaymentStatus::held) << id;
    }
  }
}

TEST(PaymentEncoding, any_bytes_give_a_record_or_corrupt) {
  PaymentEntry entry{.status = PaymentStatus::held,
                     .created = kStart,
                     .scheduled = kStart + Seconds{1},
                     .digest = {1, 2, 3},
                     .reason = "r",
                     .trail = {},
                     .body = "{}"};
  put_payment_note(entry.trail,
                   {.at = kStart, .from = std::nullopt, .to = PaymentStatus::held, .detail = "d"});
  const std::string bytes = encode_payment(entry);
  EXPECT_EQ(*decode_payment(bytes), entry);
  EXPECT_EQ(decode_payment_notes(entry.trail)->size(), 1U);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_payment(std::string_view(bytes).substr(0, size))) << size;
  }
  EXPECT_FALSE(decode_payment(bytes + "x"));
  Rng rng(7);
  for (int i = 0; i < 2'000; ++i) {
    std::string other = bytes;
    other[rng.below(other.size())] = static_cast<char>(rng.below(256));
    if (const auto decoded = decode_payment(other)) {
      std::ignore = decode_payment_notes(decoded->trail);
    }
  }
  EXPECT_EQ(decode_payment_time_key(payment_time_key(kStart, "p"))->id.str(), "p");
  EXPECT_EQ(decode_payment_status_key(payment_status_key(PaymentStatus::held, "p"))->str(), "p");
  EXPECT_FALSE(decode_payment_time_key(payment_status_key(PaymentStatus::held, "p")));
  const PaymentRuleRecord rules{
      .revision = 7,
      .rules = {{.name = "a", .when = {}, .then = core::RuleAction::hold, .reason = "r"}},
      .changed = kStart};
  const std::string rule_bytes = encode_payment_rule_record(rules);
  EXPECT_EQ(decode_payment_rule_record(rule_bytes)->rules, rules.rules);
  EXPECT_EQ(decode_payment_rule_record(rule_bytes)->revision, 7U);
  EXPECT_FALSE(decode_payment_rule_record(std::string_view(rule_bytes).substr(0, 20)));
}

}  // namespace
}  // namespace penstock::store::embedded
