// Hand-overs to a real server that behaves, or does not: what is sent, and what the answers mean.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "sink/http/test_server.h"
#include "sink/http/test_sink.h"

namespace penstock::sink {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(HttpSink, posts_the_item) {
  std::promise<TestRequest> seen;
  TestServer server([&](Peer& peer, int) {
    seen.set_value(peer.receive().value());
    peer.send(kOk);
    peer.wait_for_end();
  });
  HttpSettings settings = http_settings(server.url("/hook"));
  settings.secrets = {"0123456789abcdef"};
  TestSink sink(settings, {.user_agent = "Penstock/9"});
  EXPECT_EQ(told(sink.ask(handover("p-7", R"([1, {"a":2}])"))), "done: HTTP 200");
  const TestRequest request = seen.get_future().get();
  EXPECT_THAT(request.head, StartsWith("POST /hook HTTP/1.1\r\n"));
  EXPECT_EQ(request.header("Host"), "127.0.0.1:" + std::to_string(server.port()));
  EXPECT_EQ(request.header("User-Agent"), "Penstock/9");
  EXPECT_EQ(request.header("Idempotency-Key"), "PAYMENT:p-7");
  EXPECT_EQ(request.header("webhook-id"), "PAYMENT:p-7");
  EXPECT_EQ(request.header("webhook-timestamp"), "1700000100");
  EXPECT_THAT(request.header("webhook-signature"), StartsWith("v1,"));
  EXPECT_EQ(request.body,
            R"({"itemType":"PAYMENT","itemId":"p-7","scheduledTime":"2023-11-14T22:13:20.000Z",)"
            R"("attempt":3,"context":[1, {"a":2}]})");
}

TEST(HttpSink, posts_null_when_there_is_no_context) {
  std::promise<TestRequest> seen;
  TestServer server([&](Peer& peer, int) {
    seen.set_value(peer.receive().value());
    peer.send(kOk);
  });
  TestSink sink(http_settings(server.url()));
  sink.ask(handover("p-1", ""));
  EXPECT_THAT(seen.get_future().get().body, HasSubstr(R"("context":null})"));
}

TEST(HttpSink, judges_by_status) {
  const std::pair<std::string, std::string_view> cases[] = {
      {with_status(201), "done: HTTP 201"},
      {with_status(429), "slow_down: HTTP 429"},
      {with_status(429, "Retry-After: 3\r\n"), "slow_down: HTTP 429 3000"},
      {with_status(503, "Retry-After: Tue, 14 Nov 2023 22:15:05 GMT\r\n"),
       "slow_down: HTTP 503 5000"},
      {with_status(503), "failed: HTTP 503"},
      {with_status(500), "failed: HTTP 500"},
      {with_status(408), "failed: HTTP 408"},
      {with_status(404), "refused: HTTP 404"},
      {"HTTP/1.1 100 Continue\r\n\r\n" + std::string(kOk), "done: HTTP 200"},
  };
  for (const auto& [answer, expected] : cases) {
    TestServer server(always(answer));
    TestSink sink(http_settings(server.url()));
    EXPECT_EQ(told(sink.ask()), expected);
  }
}

TEST(HttpSink, follows_no_redirect) {
  TestServer target(always(std::string(kOk)));
  TestServer server(always(with_status(307, "Location: " + target.url() + "\r\n")));
  TestSink sink(http_settings(server.url()));
  EXPECT_EQ(told(sink.ask()), "failed: HTTP 307, redirects are not followed");
  EXPECT_EQ(target.connections(), 0);
}

TEST(HttpSink, listens_while_it_writes) {
  const std::string context = "\"" + std::string(16 * 1024 * 1024, 'x') + "\"";
  TestServer server([](Peer& peer, int) {
    peer.wait_for_bytes();
    peer.send(with_status(413));
    peer.wait_for_end();
  });
  TestSink sink(http_settings(server.url()));
  EXPECT_EQ(told(sink.ask(handover("p-2", context))), "refused: HTTP 413");
}

TEST(HttpSink, believes_a_status_whatever_becomes_of_the_body) {
  TestServer server(
      [](Peer& peer, int) { peer.answer("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf of"); });
  TestSink sink(http_settings(server.url()));
  EXPECT_EQ(told(sink.ask()), "done: HTTP 200");
}

TEST(HttpSink, fails_on_answers_that_are_none) {
  const std::pair<std::string, std::string_view> cases[] = {
      {"", "failed: the connection was closed before an answer"},
      {"HTTP/1.1 200 OK\r\nContent-Le", "failed: the connection was closed before an answer"},
      {"220 mail.example.com ESMTP\r\n", "failed: the answer is not HTTP"},
      {"HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n",
       "failed: the answer is not HTTP, or its head is too large"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;" + std::string(200'000, 'x'),
       "done: HTTP 200"},
  };
  for (const auto& [answer, expected] : cases) {
    TestServer server([&answer](Peer& peer, int) {
      peer.answer(answer);
      if (answer.size() > 1'000) peer.wait_for_end();
    });
    TestSink sink(http_settings(server.url()));
    EXPECT_THAT(told(sink.ask()), StartsWith(expected)) << answer.substr(0, 100);
  }
}

TEST(HttpSink, waits_no_longer_than_its_time) {
  TestServer silent([](Peer& peer, int) { peer.wait_for_end(); });
  TestSink sink(http_settings(silent.url(), Millis{50}));
  EXPECT_EQ(told(sink.ask()), "failed: timed out after 50 ms, waiting for the answer");
  TestServer slow([](Peer& peer, int) {
    peer.answer("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n");
    peer.wait_for_end();
  });
  TestSink other(http_settings(slow.url(), Millis{200}));
  EXPECT_EQ(told(other.ask()), "done: HTTP 200");  // the status was there
}

TEST(HttpSink, refuses_an_id_that_would_break_out_of_its_line) {
  TestServer server(always(std::string(kOk)));
  TestSink sink(http_settings(server.url()));
  EXPECT_EQ(told(sink.ask(handover("a\r\nX: y"))), "refused: its id cannot stand in a header");
  EXPECT_EQ(told(sink.ask()), "done: HTTP 200");
}

TEST(HttpSink, sends_nothing_whose_turn_has_passed) {
  std::atomic<int> requests{0};
  TestServer server([&](Peer& peer, int) {
    while (peer.receive()) {
      ++requests;
      peer.send(kOk);
    }
  });
  TestSink sink(http_settings(server.url()));
  Handover late = handover("x", "[5]");
  late.patience = Micros{-1};
  SinkAnswer answer = sink.ask(std::move(late));
  EXPECT_EQ(answer.outcome, SinkOutcome::late);
  ASSERT_TRUE(answer.unsent);
  EXPECT_EQ(answer.unsent->id.str(), "x");
  EXPECT_EQ(answer.unsent->context, "[5]");
  EXPECT_EQ(requests, 0);
  answer.unsent->patience = Seconds{60};
  EXPECT_EQ(told(sink.ask(std::move(*answer.unsent))), "done: HTTP 200");
  EXPECT_EQ(requests, 1);
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpSink, answers_everything_when_it_ends) {
  TestServer silent([](Peer& peer, int) { peer.wait_for_end(); });
  HttpSettings settings = http_settings(silent.url());
  settings.concurrency = 2;
  TestSink sink(settings);
  for (int i = 0; i < 100; ++i) sink.send(handover(std::to_string(i)));
  sink.close();
  ASSERT_EQ(sink.answers().size(), 100U);
  for (const SinkAnswer& answer : sink.answers().wait(100)) {
    EXPECT_EQ(told(answer), "failed: this node stops");
  }
}

TEST(HttpSink, shares_its_client_with_others_and_answers_all_exactly_once) {
  constexpr int kThreads = 4;
  constexpr int kEach = 500;
  TestServer server(always(std::string(kOk)));
  const SimulatedClock clock(kTestNow);
  const auto client = HttpClient::make(clock, {});
  ASSERT_TRUE(client);
  Answers answers;
  std::vector<std::unique_ptr<Sink>> sinks;
  for (int i = 0; i < kThreads; ++i) {
    HttpSettings settings = http_settings(server.url());
    settings.concurrency = 2;
    settings.secrets = {"0123456789abcdef"};
    sinks.push_back(std::move(*(*client)->open_sink(settings)));
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < kEach; ++j) {
        sinks[(i + j) % sinks.size()]->send(handover(std::to_string(j)), answers.taker());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const SinkAnswer& answer : answers.wait(kThreads * kEach)) {
    EXPECT_EQ(answer.outcome, SinkOutcome::done) << answer.detail;
  }
  sinks.clear();
  EXPECT_EQ(answers.size(), static_cast<std::size_t>(kThreads * kEach));
  EXPECT_LE(server.connections(), 2 * kThreads);
}

TEST(HttpSink, may_be_given_more_from_its_answers) {
  TestServer server(always(std::string(kOk)));
  const SimulatedClock clock(kTestNow);
  const auto client = HttpClient::make(clock, {});
  ASSERT_TRUE(client);
  Answers answers;
  const std::unique_ptr<Sink> sink = std::move(*(*client)->open_sink(http_settings(server.url())));
  sink->send(handover("1"), [&](SinkAnswer) { sink->send(handover("2"), answers.taker()); });
  EXPECT_EQ(told(answers.wait(1).at(0)), "done: HTTP 200");
}

TEST(HttpSink, is_not_made_for_what_it_cannot_use) {
  const SimulatedClock clock(kTestNow);
  const auto client = HttpClient::make(clock, {});
  ASSERT_TRUE(client);
  EXPECT_EQ((*client)->open_sink(http_settings("ftp://x")).error().field, "sink.url");
  HttpSettings settings = http_settings("http://x");
  settings.secrets = {"whsec_!"};
  EXPECT_EQ((*client)->open_sink(settings).error().field, "sink.secrets");
  const auto without = HttpClient::make(clock, {.ca_file = "/no/such/file.pem"});
  ASSERT_FALSE(without);
  EXPECT_THAT(without.error().what, HasSubstr("/no/such/file.pem"));
}

}  // namespace
}  // namespace penstock::sink
