// The judgements about Kafka, the places that item types send to, and our own addresses.
#include "daemon/doctor/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "daemon/doctor/test_findings.h"
#include "sink/http/http_client.h"
#include "sink/kafka/kafka.h"
#include "wire/described.h"

namespace penstock::daemon::doctor {
namespace {

using testing::HasSubstr;

store::ItemTypeRecord type_of(const char* name, core::SinkSettings sink) {
  store::ItemTypeRecord record{.type = ItemType::trusted(name), .version = 1, .settings = {}};
  record.settings.sink = std::move(sink);
  return record;
}
core::SinkSettings http_to(const char* url) {
  return wire::to_one_of("http", sink::HttpSettings{.url = url});
}
core::SinkSettings kafka_to(const char* topic) {
  return wire::to_one_of("kafka", sink::KafkaSettings{.topic = topic});
}

TEST(DoctorSinks, one_address_is_looked_at_once_for_all_its_types) {
  const std::vector types = {type_of("A", http_to("https://bank.example/pay")),
                             type_of("B", http_to("https://bank.example:443/refund")),
                             type_of("C", http_to("http://bank.example/pay"))};
  const std::vector<Target> targets = targets_of(Config{}, types);
  ASSERT_EQ(targets.size(), 2U);
  EXPECT_EQ(targets[0].name, "sink.http.A");
  EXPECT_EQ(targets[0].who, "A, B");
  EXPECT_TRUE(targets[0].where.tls);
  EXPECT_EQ(targets[0].where.port, 443);
  EXPECT_EQ(targets[1].where.port, 80);
}

TEST(DoctorSinks, types_that_are_switched_off_and_other_kinds_are_left_alone) {
  std::vector types = {type_of("OFF", http_to("http://x.example/")), type_of("K", kafka_to("t"))};
  types[0].settings.enabled = false;
  EXPECT_TRUE(targets_of(Config{}, types).empty());
}

TEST(DoctorSinks, a_url_that_is_none_fails_without_being_tried) {
  const std::vector types = {type_of("BAD", http_to("ftp://x"))};
  const std::vector<Target> targets = targets_of(Config{}, types);
  ASSERT_EQ(targets.size(), 1U);
  const Finding finding = judge_target(targets[0], Reached{}, kNow);
  EXPECT_EQ(finding.status, Status::failed);
  EXPECT_THAT(finding.fix, HasSubstr("/admin/dispatch/types/BAD"));
}

TEST(DoctorSinks, certificates_are_told_two_weeks_ahead) {
  const Target target{.name = "sink.http.A", .who = "A", .where = {.tls = true}};
  const auto status = [&](std::chrono::days left) {
    return judge_target(target, Reached{.address = "x", .valid_until = kNow + left}, kNow).status;
  };
  EXPECT_EQ(status(std::chrono::days{90}), Status::ok);
  EXPECT_EQ(status(std::chrono::days{13}), Status::warning);
  EXPECT_EQ(status(std::chrono::days{0}), Status::failed);
  EXPECT_EQ(judge_target(target, fail(ErrorKind::timeout, "no answer"), kNow).status,
            Status::failed);
}

Config kafka_config() {
  Config config;
  config.kafka.brokers = "k:9092";
  config.kafka.dead_letter_suffix = ".dlq";
  config.kafka.intake_topics = {{"in", ItemType::trusted("A")}};
  config.gateway.bus = BusChoice::kafka;
  config.gateway.kafka_topic = "messages";
  config.gateway.kafka_partitions = 8;
  return config;
}

TEST(DoctorKafka, names_all_topics_that_are_used) {
  const std::vector types = {type_of("A", kafka_to("out")), type_of("B", kafka_to("out"))};
  std::vector<std::string> names;
  for (const TopicUse& use : topics_used(kafka_config(), types)) names.push_back(use.topic);
  EXPECT_THAT(names, testing::ElementsAre("messages", "messages.dlq", "in", "in.dlq", "out"));
}

TEST(DoctorKafka, what_is_missing_is_judged_by_its_use) {
  const std::vector types = {type_of("A", kafka_to("out"))};
  const Findings findings = judge_kafka({.brokers = 3}, topics_used(kafka_config(), types));
  EXPECT_EQ(finding_of(findings, "kafka.topic.messages").status, Status::ok);
  EXPECT_EQ(finding_of(findings, "kafka.topic.in").status, Status::failed);
  EXPECT_EQ(finding_of(findings, "kafka.topic.in.dlq").status, Status::warning);
  EXPECT_THAT(finding_of(findings, "kafka.topic.out").fix,
              HasSubstr("--create --topic out --partitions 1 --replication-factor 3"));
}

TEST(DoctorKafka, partitions_without_leader_replicas_behind_and_single_copies) {
  const std::vector<TopicUse> uses = {{TopicUse::Kind::bus, "m", "gateway.kafka.topic", 8}};
  const auto status = [&](kafka::TopicView topic, std::size_t brokers) {
    topic.name = "m";
    return finding_of(judge_kafka({.brokers = brokers, .topics = {topic}}, uses), "kafka.topic.m")
        .status;
  };
  EXPECT_EQ(status({.partitions = 8, .replicas = 3}, 3), Status::ok);
  EXPECT_EQ(status({.partitions = 8, .replicas = 3, .leaderless = 1}, 3), Status::failed);
  EXPECT_EQ(status({.partitions = 8, .replicas = 3, .not_in_sync = 2}, 3), Status::warning);
  EXPECT_EQ(status({.partitions = 8, .replicas = 1}, 3), Status::warning);
  EXPECT_EQ(status({.partitions = 8, .replicas = 1}, 1), Status::ok);  // a machine to try it on
  EXPECT_EQ(status({.partitions = 4, .replicas = 3}, 3), Status::warning);
}

http::HttpAnswer answer(int status, const char* body) {
  return {.status = status, .body = body, .retry_after = {}};
}

TEST(DoctorListen, knows_a_penstock_by_its_health) {
  const HealthAnswer ready =
      judge_health("127.0.0.1:8080", false, answer(200, R"({"status":"UP","checks":[]})"));
  EXPECT_EQ(ready.occupant, Occupant::penstock);
  EXPECT_EQ(ready.finding.status, Status::ok);
  const HealthAnswer down = judge_health(
      "127.0.0.1:8080", false,
      answer(503, R"({"status":"DOWN","checks":[{"name":"store.redis","status":"DOWN","message":)"
                  R"("refused"},{"name":"store.embedded","status":"UP"}]})"));
  EXPECT_EQ(down.finding.status, Status::failed);
  EXPECT_THAT(down.finding.found, HasSubstr("not ready: store.redis: refused"));
}

TEST(DoctorListen, others_on_our_address_fail) {
  for (const http::HttpAnswer& other :
       {answer(200, "<html>"), answer(404, "{}"), answer(200, "[]")}) {
    const HealthAnswer judged = judge_health("127.0.0.1:8080", false, other);
    EXPECT_EQ(judged.occupant, Occupant::unknown);
    EXPECT_EQ(judged.finding.status, Status::failed);
    EXPECT_THAT(judged.finding.fix, HasSubstr("sport = :8080"));
  }
  EXPECT_EQ(judge_health("127.0.0.1:8080", false, answer(401, "")).finding.status, Status::warning);
  EXPECT_EQ(judge_health("127.0.0.1:8080", false, fail(ErrorKind::timeout, "late")).finding.status,
            Status::failed);
  // Who is asked by an address does not show a certificate for it.
  EXPECT_EQ(judge_health("127.0.0.1:8080", true, fail(ErrorKind::unavailable, "x")).finding.status,
            Status::warning);
}

TEST(DoctorListen, says_what_to_do_about_each_refusal) {
  EXPECT_EQ(judge_bind("listen.http", "a:80", 80, 0).status, Status::ok);
  EXPECT_THAT(judge_bind("listen.http", "a:80", 80, EACCES).fix, HasSubstr("CAP_NET_BIND"));
  EXPECT_THAT(judge_bind("listen.http", "a:80", 80, EADDRNOTAVAIL).fix, HasSubstr("ip address"));
  EXPECT_THAT(judge_bind("listen.resp", "a:80", 80, EADDRINUSE).fix, HasSubstr("resp.listen"));
}

TEST(DoctorListen, a_taken_resp_address_is_the_daemons_when_that_of_http_is) {
  EXPECT_EQ(judge_resp("a:6380", 6380, EADDRINUSE, Occupant::penstock).status, Status::ok);
  EXPECT_EQ(judge_resp("a:6380", 6380, EADDRINUSE, Occupant::nobody).status, Status::failed);
}

}  // namespace
}  // namespace penstock::daemon::doctor
