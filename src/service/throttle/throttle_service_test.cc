#include "service/throttle/throttle_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "service/testing/answer.h"
#include "service/testing/throttle_stores.h"

namespace penstock::service {
namespace {

using testing::HasSubstr;
using testing::Not;

core::ThrottleCall call(std::initializer_list<std::string_view> keys, std::int64_t cost = 1) {
  core::ThrottleCall made;
  for (const std::string_view key : keys) made.add(key);
  made.cost = cost;
  return made;
}

class ThrottleServiceTest : public testing::Test {
 protected:
  ThrottleServiceTest() { restart({}); }
  ~ThrottleServiceTest() override {
    service_.reset();
    ::close(log_fd_);
  }

  void restart(const ThrottleOptions& options) {
    service_.reset();
    metrics_ = std::make_unique<runtime::Metrics>();
    auto started = ThrottleService::start(options, limits_, policies_, log_, *metrics_);
    ASSERT_TRUE(started) << started.error().what;
    service_ = std::move(*started);
  }

  Result<core::Policy> create(const core::PolicyDraft& policy) {
    return answer_of<Result<core::Policy>>(
        [&](auto done) { service_->create_policy(policy, "req-1", std::move(done)); });
  }
  Result<core::Policy> update(const core::PolicyDraft& policy) {
    return answer_of<Result<core::Policy>>([&](auto done) {
      service_->update_policy(
          policy.key, [&](const auto&) { return policy; }, "req-2", std::move(done));
    });
  }
  Result<core::Policy> remove(const std::string& key) {
    return answer_of<Result<core::Policy>>(
        [&](auto done) { service_->remove_policy(key, "req-3", std::move(done)); });
  }
  Result<core::KeyMetrics> key_metrics(const std::string& key) {
    return answer_of<Result<core::KeyMetrics>>(
        [&](auto done) { service_->key_metrics(key, std::move(done)); });
  }

  core::ThrottleDecision check(const core::ThrottleCall& asked) {
    core::ThrottleDecision decision;
    const Result<void> decided = service_->check(asked, decision);
    EXPECT_TRUE(decided) << decided.error().what;
    return decision;
  }

  std::string metrics_text() { return metrics_->prometheus_text(); }
  std::string log_text() {
    std::string text(1 << 16, '\0');
    const ssize_t size = ::pread(log_fd_, text.data(), text.size(), 0);
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
  }

  SimulatedClock clock_{from_epoch_millis(1'748'779'200'000)};
  int log_fd_ = ::memfd_create("log", MFD_CLOEXEC);
  Log log_{clock_, log_fd_, LogLevel::debug, LogFormat::json};
  FakeLimits limits_;
  FakePolicies policies_;
  std::unique_ptr<runtime::Metrics> metrics_;
  std::unique_ptr<ThrottleService> service_;
};

TEST_F(ThrottleServiceTest, decides_by_the_policy_that_matches) {
  ASSERT_TRUE(create(policy_draft("user:*", 2)));
  const auto decision = check(call({"user:1"}));
  EXPECT_TRUE(decision.allowed);
  EXPECT_EQ(decision.key(), "user:1");
  EXPECT_EQ(decision.policy().draft.key, "user:*");
  EXPECT_EQ(decision.status().limit, 2);
  EXPECT_EQ(decision.status().remaining, 1);
  EXPECT_EQ(check(call({"other"})).status().limit, 100);
}

TEST_F(ThrottleServiceTest, asks_the_store_once_for_all_limits_and_names_the_one_that_bound) {
  ASSERT_TRUE(create(policy_draft("b", 1)));
  const int before = limits_.applied;
  auto decision = check(call({"a", "b", "c"}));
  EXPECT_EQ(limits_.applied, before + 1);
  EXPECT_TRUE(decision.allowed);
  EXPECT_EQ(decision.key(), "b");
  decision = check(call({"a", "b", "c"}));
  EXPECT_FALSE(decision.allowed);
  EXPECT_EQ(decision.key(), "b");
  EXPECT_EQ(decision.count, 3U);
  EXPECT_EQ(check(call({"a"}, 0)).status().remaining, 99);  // a was not charged by the denial
}

TEST_F(ThrottleServiceTest, decides_each_entry_of_a_batch_alone_and_in_order) {
  ASSERT_TRUE(create(policy_draft("k", 2)));
  const std::vector<ThrottleEntry> entries{{"k", 1}, {"k", 2}, {"k", 1}, {"other", 1}};
  const int before = limits_.applied;
  const auto decisions = service_->check_batch(entries);
  EXPECT_EQ(limits_.applied, before + 1);
  ASSERT_EQ(decisions.size(), 4U);
  EXPECT_TRUE(decisions[0]->allowed);
  EXPECT_FALSE(decisions[1]->allowed);
  EXPECT_TRUE(decisions[2]->allowed);
  EXPECT_EQ(decisions[2]->status.remaining, 0);
  EXPECT_EQ(decisions[3]->policy->draft.key, "default");
  EXPECT_TRUE(service_->check_batch({}).empty());
}

TEST_F(ThrottleServiceTest, counts_what_it_decides) {
  ASSERT_TRUE(create(policy_draft("k", 1)));
  check(call({"k"}));
  check(call({"k"}));
  check(call({"k"}, 0));
  check(call({"k"}, -1));
  EXPECT_THAT(metrics_text(), HasSubstr("throttlex_allowed_total 1\n"));
  EXPECT_THAT(metrics_text(), HasSubstr("throttlex_blocked_total 1\n"));
  EXPECT_THAT(metrics_text(), HasSubstr("throttlex_latency_ms_count 4\n"));
  EXPECT_THAT(metrics_text(), Not(HasSubstr("throttlex_tokens_remaining")));
  EXPECT_EQ(service_->totals().allowed, 1U);
  EXPECT_EQ(service_->totals().blocked, 1U);
  EXPECT_EQ(service_->totals().policies, 1U);
}

TEST_F(ThrottleServiceTest, lets_a_shadow_policy_pass_and_counts_what_it_would_have_denied) {
  core::PolicyDraft shadow = policy_draft("k", 1);
  shadow.shadow = true;
  ASSERT_TRUE(create(shadow));
  EXPECT_TRUE(check(call({"k"})).allowed);
  const auto decision = check(call({"k"}));
  EXPECT_TRUE(decision.allowed);
  EXPECT_FALSE(decision.status().admitted);
  EXPECT_THAT(metrics_text(), HasSubstr("penstock_throttle_shadow_denied_total 1\n"));
  EXPECT_THAT(metrics_text(), HasSubstr("throttlex_allowed_total 2\n"));
}

TEST_F(ThrottleServiceTest, shows_tokens_by_policy_in_a_bounded_number_of_series) {
  restart({.tokens_remaining = true});
  ASSERT_TRUE(create(policy_draft("user:*", 5)));
  check(call({"user:1"}));
  check(call({"user:2"}, 3));
  check(call({"else"}));
  EXPECT_THAT(metrics_text(), HasSubstr("throttlex_tokens_remaining{policy=\"user:*\"} 2\n"));
  EXPECT_THAT(metrics_text(), HasSubstr("throttlex_tokens_remaining{policy=\"(default)\"} 99\n"));
  for (int i = 0; i < 300; ++i) {
    const std::string key = "k" + std::to_string(i);
    ASSERT_TRUE(create(policy_draft(key)));
    check(call({key}));
  }
  std::size_t series = 0;
  const std::string text = metrics_text();
  for (std::size_t at = 0; (at = text.find("throttlex_tokens_remaining{", at)) != text.npos; ++at) {
    ++series;
  }
  EXPECT_EQ(series, TokensRemaining::kSeriesMax);
}

TEST_F(ThrottleServiceTest, answers_as_the_policy_says_when_the_store_is_away) {
  core::PolicyDraft open = policy_draft("open");
  open.on_store_failure = core::OnStoreFailure::allow;
  ASSERT_TRUE(create(open));
  limits_.away = true;
  core::ThrottleDecision decision;
  const Result<void> denied = service_->check(call({"shut"}), decision);
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().kind, ErrorKind::unavailable);
  EXPECT_FALSE(service_->check(call({"open", "shut"}), decision));
  decision = check(call({"open"}));
  EXPECT_TRUE(decision.allowed);
  EXPECT_TRUE(decision.unchecked);
  EXPECT_EQ(decision.status().remaining, 2);
  const std::vector<ThrottleEntry> entries{{"open", 1}, {"shut", 1}};
  const auto batch = service_->check_batch(entries);
  EXPECT_TRUE(batch[0] && batch[0]->allowed);
  EXPECT_FALSE(batch[1]);
  EXPECT_THAT(metrics_text(), HasSubstr("penstock_throttle_store_failures_total 5\n"));
}

TEST_F(ThrottleServiceTest, applies_its_own_policy_changes_at_once) {
  ASSERT_TRUE(create(policy_draft("k", 2)));
  EXPECT_EQ(check(call({"k"}, 0)).status().limit, 2);
  ASSERT_TRUE(update(policy_draft("k", 9)));
  EXPECT_EQ(check(call({"k"}, 0)).status().limit, 9);
  const auto removed = remove("k");
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->draft.limit.capacity, 9);
  EXPECT_EQ(check(call({"k"}, 0)).status().limit, 100);
}

TEST_F(ThrottleServiceTest, refuses_changes_that_do_not_fit) {
  EXPECT_EQ(update(policy_draft("k")).error().kind, ErrorKind::not_found);
  EXPECT_EQ(remove("k").error().kind, ErrorKind::not_found);
  ASSERT_TRUE(create(policy_draft("k")));
  EXPECT_EQ(create(policy_draft("k")).error().kind, ErrorKind::conflict);
  const auto history = answer_of<Result<std::vector<core::Policy>>>(
      [&](auto done) { service_->policy_history("nope", std::move(done)); });
  EXPECT_EQ(history.error().kind, ErrorKind::not_found);
  restart({.policies_max = 1});
  EXPECT_EQ(create(policy_draft("second")).error().kind, ErrorKind::conflict);
}

TEST_F(ThrottleServiceTest, logs_a_change_from_old_to_new) {
  ASSERT_TRUE(create(policy_draft("k", 2)));
  ASSERT_TRUE(update(policy_draft("k", 3)));
  ASSERT_TRUE(remove("k"));
  const std::string text = log_text();
  EXPECT_THAT(text, HasSubstr("throttle.policy_created"));
  EXPECT_THAT(text, HasSubstr("\"old\":\"v1 TOKEN_BUCKET capacity=2 refill=10/s window=60s "
                              "shadow=false on_store_failure=deny\",\"new\":\"v2 TOKEN_BUCKET "
                              "capacity=3"));
  EXPECT_THAT(text, HasSubstr("\"new\":\"none\",\"request_id\":\"req-3\""));
}

TEST_F(ThrottleServiceTest, takes_up_policies_of_other_nodes) {
  ASSERT_TRUE(policies_.create(policy_draft("k", 4), {}));
  ASSERT_TRUE(service_->refresh_policies());
  EXPECT_EQ(check(call({"k"}, 0)).status().limit, 4);
}

TEST_F(ThrottleServiceTest, does_not_start_without_its_policies) {
  policies_.away = true;
  runtime::Metrics metrics;
  const auto started = ThrottleService::start({}, limits_, policies_, log_, metrics);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().kind, ErrorKind::unavailable);
}

TEST_F(ThrottleServiceTest, tells_what_is_known_of_a_key) {
  ASSERT_TRUE(create(policy_draft("k", 5)));
  check(call({"k"}, 2));
  auto metrics = key_metrics("k");
  ASSERT_TRUE(metrics);
  EXPECT_EQ(metrics->tokens, 3);
  EXPECT_EQ(metrics->capacity, 5);
  EXPECT_EQ(metrics->window_count, 2);
  EXPECT_EQ(key_metrics("unused")->tokens, 100);
  ASSERT_TRUE(update(policy_draft("k", 1)));
  EXPECT_EQ(key_metrics("k")->tokens, 0);
  core::PolicyDraft other_type = policy_draft("k", 5);
  other_type.limit.type = core::LimitType::fixed_window;
  ASSERT_TRUE(update(other_type));
  EXPECT_EQ(key_metrics("k")->tokens, 5);
}

TEST_F(ThrottleServiceTest, resets_and_lists_keys) {
  check(call({"a"}));
  check(call({"b"}));
  const auto reset = [&](const std::string& key) {
    return answer_of<Result<bool>>(
        [&](auto done) { service_->reset(key, "req-4", std::move(done)); });
  };
  EXPECT_EQ(reset("a"), true);
  EXPECT_EQ(reset("a"), false);
  const auto page = answer_of<Result<std::vector<core::KeyMetrics>>>(
      [&](auto done) { service_->list_metrics("", 10, std::move(done)); });
  ASSERT_TRUE(page);
  ASSERT_EQ(page->size(), 1U);
  EXPECT_EQ(page->front().key, "b");
  EXPECT_EQ(page->front().tokens, 99);
}

TEST_F(ThrottleServiceTest, shows_a_key_of_a_redis_client_by_the_limit_that_came_with_it) {
  const core::Limit limit{.type = core::LimitType::gcra, .capacity = 3};
  const store::LimitCheck check{.key = "\x01k", .limit = limit};
  core::LimitStatus status;
  const store::LimitRequest request{.checks = {&check, 1}, .cost = 3, .statuses = {&status, 1}};
  Result<store::LimitAnswer> answered;
  limits_.apply({&request, 1}, std::nullopt, {&answered, 1});
  const auto page = answer_of<Result<std::vector<core::KeyMetrics>>>(
      [&](auto done) { service_->list_metrics("", 10, std::move(done)); });
  ASSERT_TRUE(page);
  ASSERT_EQ(page->size(), 1U);
  EXPECT_EQ(page->front().type, core::LimitType::gcra);
  EXPECT_EQ(page->front().capacity, 3);
  EXPECT_EQ(page->front().tokens, 0);
}

TEST_F(ThrottleServiceTest, answers_overloaded_after_it_stopped) {
  service_->stop();
  EXPECT_EQ(create(policy_draft("k")).error().kind, ErrorKind::overloaded);
}

}  // namespace
}  // namespace penstock::service
