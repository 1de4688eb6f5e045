// How an HTTP sink makes its connections, keeps them, and bears their loss.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <future>
#include <string>
#include <vector>

#include "sink/http/test_server.h"
#include "sink/http/test_sink.h"

namespace penstock::sink {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(HttpSink, keeps_its_connection) {
  TestServer server(always(std::string(kOk)));
  TestSink sink(http_settings(server.url()));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(told(sink.ask()), "done: HTTP 200");
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpSink, makes_a_new_connection_when_the_answer_says_so_or_is_too_long_or_too_much) {
  const std::string answers[] = {
      with_status(200, "Connection: close\r\n"),
      "HTTP/1.1 200 OK\r\nContent-Length: 70000\r\n\r\n" + std::string(70'000, 'x'),
      std::string(kOk) + "and more",
      "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
  };
  for (const std::string& answer : answers) {
    TestServer server(always(answer));
    TestSink sink(http_settings(server.url()));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(told(sink.ask()), "done: HTTP 200");
    EXPECT_EQ(server.connections(), 3) << answer.substr(0, 100);
  }
}

TEST(HttpSink, notices_that_the_server_ended_an_idle_connection) {
  TestServer server([](Peer& peer, int) { peer.answer(kOk); });
  TestSink sink(http_settings(server.url()));
  for (int i = 0; i < 20; ++i) {
    const SinkAnswer answer = sink.ask();
    // The farewell may still be on its way when the next request goes, which nobody can know; the
    // server has not read that one then.
    if (answer.outcome == SinkOutcome::done) continue;
    EXPECT_THAT(answer.detail,
                testing::AnyOf(HasSubstr("closed before an answer"), HasSubstr("reset by peer")));
  }
  EXPECT_GE(server.connections(), 10);
}

TEST(HttpSink, takes_no_words_said_at_rest_for_an_answer) {
  std::promise<void> first_is_done;
  std::promise<void> said;
  TestServer server([&](Peer& peer, int number) {
    if (number > 0) {
      peer.answer(with_status(202));
      return peer.wait_for_end();
    }
    peer.answer(kOk);
    first_is_done.get_future().wait();
    peer.send(with_status(408));
    said.set_value();
    peer.wait_for_end();
  });
  TestSink sink(http_settings(server.url()));
  EXPECT_EQ(told(sink.ask()), "done: HTTP 200");
  first_is_done.set_value();
  said.get_future().wait();
  EXPECT_EQ(told(sink.ask()), "done: HTTP 202");
  EXPECT_EQ(server.connections(), 2);
}

TEST(HttpSink, repeats_nothing_that_the_server_may_have_seen) {
  std::atomic<int> requests{0};
  TestServer server([&](Peer& peer, int) {
    peer.answer(kOk);
    if (peer.receive()) ++requests;  // and no answer
  });
  TestSink sink(http_settings(server.url()));
  EXPECT_EQ(told(sink.ask()), "done: HTTP 200");
  EXPECT_THAT(told(sink.ask()), StartsWith("failed: the connection was closed before an answer"));
  EXPECT_EQ(requests, 1);
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpSink, repeats_once_what_could_not_be_written_on_an_old_connection) {
  // More than the buffers of both sides hold, so that the reset comes before it is written.
  const std::string context = "\"" + std::string(16 * 1024 * 1024, 'x') + "\"";
  std::string seen;
  TestServer server([&](Peer& peer, int number) {
    if (number == 0) {
      peer.answer(kOk);
      peer.wait_for_bytes();
      return peer.reset();
    }
    seen = peer.receive().value_or(TestRequest{}).body;
    peer.send(kOk);
  });
  TestSink sink(http_settings(server.url()));
  EXPECT_EQ(told(sink.ask()), "done: HTTP 200");
  EXPECT_EQ(told(sink.ask(handover("p-2", context))), "done: HTTP 200");
  EXPECT_EQ(server.connections(), 2);
  EXPECT_THAT(seen.substr(0, 100), HasSubstr("p-2"));
  EXPECT_TRUE(seen.ends_with("xxx\"}"));
}

TEST(HttpSink, fails_when_a_new_connection_breaks_while_it_writes) {
  const std::string context = "\"" + std::string(16 * 1024 * 1024, 'x') + "\"";
  TestServer server([&](Peer& peer, int) {
    peer.wait_for_bytes();
    peer.reset();
  });
  TestSink sink(http_settings(server.url()));
  EXPECT_THAT(told(sink.ask(handover("p-2", context))), StartsWith("failed: cannot send: "));
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpSink, waits_no_longer_for_a_connection_either) {
  const Listener full(0);  // one that nobody accepts fills it, and the rest is met with silence
  std::vector<int> fillers;
  const sockaddr_in to = loopback(full.port());
  for (int i = 0; i < 4; ++i) {
    fillers.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    ::connect(fillers.back(), reinterpret_cast<const sockaddr*>(&to), sizeof to);
  }
  TestSink sink(http_settings("http://127.0.0.1:" + std::to_string(full.port()) + "/", Millis{50}));
  EXPECT_EQ(told(sink.ask()), "failed: timed out after 50 ms, connecting");
  for (const int fd : fillers) ::close(fd);
}

TEST(HttpSink, says_that_nobody_listens) {
  std::uint16_t port;
  {
    const Listener gone(1);
    port = gone.port();
  }
  TestSink sink(http_settings("http://127.0.0.1:" + std::to_string(port) + "/"));
  EXPECT_EQ(told(sink.ask()), "failed: cannot connect: Connection refused");
}

TEST(HttpSink, resolves_names_and_tries_all_their_addresses) {
  TestServer server(always(with_status(200, "Connection: close\r\n")));  // on IPv4 alone
  TestSink sink(http_settings("http://localhost:" + std::to_string(server.port()) + "/"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(told(sink.ask()), "done: HTTP 200");
  EXPECT_EQ(server.connections(), 3);
}

TEST(HttpSink, refuses_private_addresses_when_told_to) {
  TestServer server(always(std::string(kOk)));
  const std::string port = std::to_string(server.port());
  for (const std::string host : {"127.0.0.1", "localhost"}) {
    TestSink sink(http_settings("http://" + host + ":" + port + "/"),
                  {.refuse_private_addresses = true});
    EXPECT_THAT(told(sink.ask()), testing::MatchesRegex("failed: cannot connect: .* is not a "
                                                        "public address"));
  }
  EXPECT_EQ(server.connections(), 0);
}

TEST(HttpSink, has_no_more_connections_than_it_may) {
  std::promise<void> go;
  const std::shared_future<void> gone = go.get_future().share();
  TestServer server([&](Peer& peer, int) {
    while (peer.receive()) {
      gone.wait();
      peer.send(kOk);
    }
  });
  HttpSettings settings = http_settings(server.url());
  settings.concurrency = 3;
  TestSink sink(settings);
  for (int i = 0; i < 50; ++i) sink.send(handover(std::to_string(i)));
  go.set_value();
  for (const SinkAnswer& answer : sink.answers().wait(50)) {
    EXPECT_EQ(told(answer), "done: HTTP 200");
  }
  EXPECT_EQ(server.connections(), 3);
}

TEST(HttpSink, counts_waiting_for_a_connection_as_time) {
  TestServer silent([](Peer& peer, int) { peer.wait_for_end(); });
  HttpSettings settings = http_settings(silent.url(), Millis{100});
  settings.concurrency = 1;
  TestSink sink(settings);
  sink.send(handover("1"));
  sink.send(handover("2"));
  // Whether the second still gets a connection of its own in its last moment is chance.
  for (const SinkAnswer& answer : sink.answers().wait(2)) {
    EXPECT_THAT(told(answer), StartsWith("failed: timed out after 100 ms"));
  }
}

}  // namespace
}  // namespace penstock::sink
