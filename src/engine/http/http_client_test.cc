#include "engine/http/http_client.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace penstock::http {
namespace {

using testing::HasSubstr;

// Answers each connection with the next of its texts, as they are, after one request was read.
class CannedServer {
 public:
  explicit CannedServer(std::vector<std::string> answers) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::listen(listener_, 8);
    socklen_t size = sizeof address;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this, answers = std::move(answers)] { serve(answers); });
  }
  ~CannedServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }

  Url url() const { return {false, "127.0.0.1", port_, "/base"}; }
  std::vector<std::string> requests;  // read it after the last answer came
  int connections = 0;

 private:
  // Texts that begin with '+' are sent on the connection that is open already.
  void serve(const std::vector<std::string>& answers) {
    int peer = -1;
    for (const std::string& answer : answers) {
      const bool same = answer.starts_with('+');
      if (!same) {
        if (peer >= 0) ::close(peer);
        peer = ::accept(listener_, nullptr, nullptr);
        if (peer < 0) return;
        ++connections;
      }
      requests.push_back(read_request(peer));
      const std::string text = same ? answer.substr(1) : answer;
      (void)!::send(peer, text.data(), text.size(), MSG_NOSIGNAL);
    }
    if (peer >= 0) {
      char byte = 0;
      while (::recv(peer, &byte, 1, 0) > 0) {  // until the client is done
      }
      ::close(peer);
    }
  }

  static std::string read_request(int peer) {
    std::string text;
    char byte = 0;
    while (!text.ends_with("\r\n\r\n") && ::recv(peer, &byte, 1, 0) == 1) text += byte;
    const std::size_t length = text.find("Content-Length: ");
    if (length == text.npos) return text;
    for (auto left = std::stoul(text.substr(length + 16)); left > 0; --left) {
      if (::recv(peer, &byte, 1, 0) == 1) text += byte;
    }
    return text;
  }

  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::jthread thread_;
};

std::unique_ptr<HttpClient> client_of(const CannedServer& server, Millis timeout = Seconds{10}) {
  return *HttpClient::make(
      {.url = server.url(), .token = "secret", .ca_file = {}, .answer_timeout = timeout});
}

constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

TEST(HttpClient, sends_what_it_is_told_and_keeps_the_connection) {
  CannedServer server({kOk, std::string("+") + kOk});
  const auto client = client_of(server);
  EXPECT_EQ(client->call({.target = "/x?y=z"})->body, "{}");
  EXPECT_EQ(client->call({.method = "POST", .target = "/p", .body = "[1]"})->status, 200);
  EXPECT_EQ(server.connections, 1);
  EXPECT_THAT(server.requests.at(0), HasSubstr("GET /base/x?y=z HTTP/1.1\r\n"));
  EXPECT_THAT(server.requests.at(0), HasSubstr("Host: 127.0.0.1:"));
  EXPECT_THAT(server.requests.at(0), HasSubstr("Authorization: Bearer secret\r\n"));
  EXPECT_THAT(server.requests.at(1), HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(server.requests.at(1), testing::EndsWith("\r\n\r\n[1]"));
}

TEST(HttpClient, connects_anew_when_the_daemon_says_close) {
  CannedServer server({"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", kOk});
  const auto client = client_of(server);
  EXPECT_TRUE(client->call({.target = "/"}));
  EXPECT_TRUE(client->call({.target = "/"}));
  EXPECT_EQ(server.connections, 2);
}

TEST(HttpClient, gives_the_retry_after_of_an_answer) {
  CannedServer server({"HTTP/1.1 503 X\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n",
                       "+HTTP/1.1 503 X\r\nRetry-After: soon\r\nContent-Length: 0\r\n\r\n"});
  const auto client = client_of(server);
  EXPECT_EQ(client->call({.target = "/"})->retry_after, Millis{7'000});
  EXPECT_EQ(client->call({.target = "/"})->retry_after, std::nullopt);
}

TEST(HttpClient, gives_the_link_to_the_next_page) {
  const auto with_link = [](const std::string& link) {
    return "HTTP/1.1 200 OK\r\nLink: " + link + "\r\nContent-Length: 0\r\n\r\n";
  };
  CannedServer server(
      {with_link(R"(</x?limit=2&after=b%20c>; rel="next")"), "+" + with_link(R"(</x>; rel="prev")"),
       "+" + with_link(R"(<http://elsewhere/x>; rel="next")"), std::string("+") + kOk});
  const auto client = client_of(server);
  EXPECT_EQ(client->call({.target = "/"})->next_page, "/x?limit=2&after=b%20c");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client->call({.target = "/"})->next_page, "");
}

TEST(HttpClient, reports_an_answer_that_is_cut_off_and_connects_anew) {
  CannedServer server({"HTTP/1.1 200 OK\r\nContent-Le", "nonsense\r\n\r\n", kOk});
  const auto client = client_of(server, Millis{500});
  EXPECT_FALSE(client->call({.target = "/"}).has_value());
  EXPECT_EQ(client->call({.target = "/"}).error().kind, ErrorKind::unavailable);
  EXPECT_EQ(client->call({.target = "/"})->status, 200);
}

TEST(HttpClient, does_not_wait_longer_than_its_timeout) {
  CannedServer server({""});
  const Result<HttpAnswer> answer = client_of(server, Millis{50})->call({.target = "/"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::timeout);
  EXPECT_THAT(answer.error().what, HasSubstr("timed out"));
}

constexpr const char* kStream = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n";

TEST(HttpClient, a_stream_gives_bytes_as_they_come_until_it_is_stopped) {
  CannedServer server({kStream});
  const auto client = client_of(server);
  std::string seen;
  const Result<HttpAnswer> answer = client->stream(
      {.target = "/events"}, [&](std::string_view bytes) { seen += bytes; },
      [&] { return seen == "one"; });
  ASSERT_TRUE(answer) << answer.error().what;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(seen, "one");
  EXPECT_THAT(server.requests.at(0), HasSubstr("GET /base/events HTTP/1.1\r\n"));
}

TEST(HttpClient, a_stream_that_ends_or_falls_silent_is_an_error) {
  CannedServer server({std::string(kStream) + "0\r\n\r\n", kStream});
  const auto client = client_of(server, Millis{200});
  const auto never = [] { return false; };
  const auto ignore = [](std::string_view) {};
  EXPECT_EQ(client->stream({.target = "/"}, ignore, never).error().what,
            "the daemon ended the stream");
  EXPECT_EQ(client->stream({.target = "/"}, ignore, never).error().kind, ErrorKind::timeout);
}

TEST(HttpClient, a_stream_that_is_refused_gives_the_refusal) {
  CannedServer server({"HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\n{}"});
  const auto answer = client_of(server)->stream(
      {.target = "/"}, [](std::string_view) { FAIL(); }, [] { return false; });
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 401);
  EXPECT_EQ(answer->body, "{}");
}

TEST(HttpClient, says_whom_it_could_not_reach) {
  Url url;
  {
    const CannedServer gone({});
    url = gone.url();
  }
  const auto client = *HttpClient::make({.url = url, .token = {}, .ca_file = {}});
  const Result<HttpAnswer> answer = client->call({.target = "/"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(answer.error().what, "cannot reach http://" + url.authority() + ": Connection refused");
}

TEST(HttpClient, refuses_a_ca_file_that_holds_no_certificate) {
  const auto client =
      HttpClient::make({.url = {true, "h", 443, ""}, .token = {}, .ca_file = "/dev/null"});
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().kind, ErrorKind::invalid);
}

}  // namespace
}  // namespace penstock::http
