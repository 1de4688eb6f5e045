// Hand-overs by TLS, and to servers that cannot be trusted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "sink/http/test_server.h"
#include "sink/http/test_sink.h"

namespace penstock::sink {
namespace {

using testing::StartsWith;

TEST(HttpSinkTls, posts_to_a_server_with_a_certificate_it_trusts) {
  const TestCertificate certificate("IP:127.0.0.1,DNS:localhost");
  TestServer server(always(std::string(kOk)), certificate.context());
  TestSink sink(http_settings(server.url()), {.ca_file = certificate.file()});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(told(sink.ask()), "done: HTTP 200");
  // More than one record.
  EXPECT_EQ(told(sink.ask(handover("p", "\"" + std::string(300'000, 'x') + "\""))),
            "done: HTTP 200");
  EXPECT_EQ(server.connections(), 1);
  sink.close();
  TestSink by_name(http_settings("https://localhost:" + std::to_string(server.port()) + "/"),
                   {.ca_file = certificate.file()});
  EXPECT_EQ(told(by_name.ask()), "done: HTTP 200");
}

TEST(HttpSinkTls, says_nothing_to_a_server_that_it_cannot_trust) {
  const TestCertificate certificate("IP:127.0.0.1");
  std::atomic<int> greeted{0};
  TestServer server(
      [&](Peer& peer, int) {
        if (peer.greeted() && peer.receive()) ++greeted;
      },
      certificate.context());
  TestSink unknown(http_settings(server.url()));
  EXPECT_EQ(told(unknown.ask()),
            "failed: TLS: the certificate is not good: self-signed certificate");
  TestSink other(http_settings("https://localhost:" + std::to_string(server.port()) + "/"),
                 {.ca_file = certificate.file()});
  EXPECT_EQ(told(other.ask()), "failed: TLS: the certificate is not good: hostname mismatch");
  const TestCertificate named("DNS:localhost");
  TestServer by_name([](Peer& peer, int) { peer.receive(); }, named.context());
  TestSink by_address(http_settings(by_name.url()), {.ca_file = named.file()});
  EXPECT_EQ(told(by_address.ask()),
            "failed: TLS: the certificate is not good: IP address mismatch");
  EXPECT_EQ(greeted, 0);
}

TEST(HttpSinkTls, fails_on_a_server_that_speaks_no_tls_or_nothing) {
  TestServer server([](Peer& peer, int) {
    peer.wait_for_bytes();
    peer.send(kOk);
  });
  const std::string url = "https://127.0.0.1:" + std::to_string(server.port()) + "/";
  TestSink sink(http_settings(url));
  EXPECT_THAT(told(sink.ask()), StartsWith("failed: TLS: "));
  TestServer silent([](Peer& peer, int) { peer.wait_for_end(); });
  TestSink other(
      http_settings("https://127.0.0.1:" + std::to_string(silent.port()) + "/", Millis{50}));
  EXPECT_EQ(told(other.ask()), "failed: timed out after 50 ms, connecting");
}

}  // namespace
}  // namespace penstock::sink
