// TLS: the files it starts from, and requests through it.
#include "front/http/server/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "front/http/server/test_server.h"

namespace penstock::front {
namespace {

using testing::HasSubstr;

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using File = std::unique_ptr<std::FILE, Freed<std::fclose>>;

// A self-signed certificate and its key, in files that go with the test.
class TlsTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(testing::TempDir()) / ("tls-" + std::to_string(::getpid()));
    std::filesystem::create_directories(directory_);
    write_pair(certificate_, key_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }

  void write_pair(const std::string& certificate_file, const std::string& key_file) const {
    const Key key(EVP_EC_gen("P-256"));
    const Certificate certificate(X509_new());
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_set_pubkey(certificate.get(), key.get());
    X509_sign(certificate.get(), key.get(), EVP_sha256());
    const File out(std::fopen(path(certificate_file).c_str(), "w"));
    PEM_write_X509(out.get(), certificate.get());
    const File key_out(std::fopen(path(key_file).c_str(), "w"));
    PEM_write_PrivateKey(key_out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  }

  std::string problem(const std::string& certificate_file, const std::string& key_file) const {
    const auto loaded = TlsContext::load(path(certificate_file), path(key_file));
    return loaded ? "loaded" : loaded.error().what;
  }

  HttpOptions options() const {
    HttpOptions options;
    options.threads = 2;
    options.tls_certificate_file = path(certificate_);
    options.tls_key_file = path(key_);
    return options;
  }

  const std::string certificate_ = "certificate.pem";
  const std::string key_ = "key.pem";
  std::filesystem::path directory_;
};

// A client's session on a connected socket; it trusts anyone.
class TlsClient {
 public:
  explicit TlsClient(TestClient socket, int version = TLS1_3_VERSION) : socket_(std::move(socket)) {
    SSL_CTX_set_max_proto_version(context_.get(), version);
    SSL_CTX_set_min_proto_version(context_.get(), std::min(version, TLS1_2_VERSION));
    SSL_CTX_set_security_level(context_.get(), 0);
    session_.reset(SSL_new(context_.get()));
    SSL_set_fd(session_.get(), socket_.fd());
    connected_ = SSL_connect(session_.get()) == 1;
  }

  bool connected() const { return connected_; }
  bool send(std::string_view bytes) {
    return SSL_write(session_.get(), bytes.data(), static_cast<int>(bytes.size())) ==
           static_cast<int>(bytes.size());
  }
  // Reads until that many bytes came or the server ended.
  std::string receive(std::size_t size) {
    std::string out;
    char bytes[16 * 1024];
    while (out.size() < size) {
      const int got = SSL_read(session_.get(), bytes, sizeof bytes);
      if (got <= 0) break;
      out.append(bytes, static_cast<std::size_t>(got));
    }
    return out;
  }
  // The server said farewell, so nothing was cut off.
  bool is_closed() {
    char byte;
    const int got = SSL_read(session_.get(), &byte, 1);
    return got <= 0 && SSL_get_error(session_.get(), got) == SSL_ERROR_ZERO_RETURN;
  }

 private:
  TestClient socket_;
  std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>> context_{SSL_CTX_new(TLS_client_method())};
  std::unique_ptr<SSL, Freed<SSL_free>> session_;
  bool connected_ = false;
};

TEST_F(TlsTest, says_which_file_is_wrong) {
  EXPECT_EQ(problem(certificate_, key_), "loaded");
  EXPECT_THAT(problem("none.pem", key_), HasSubstr("cannot read the TLS certificate file"));
  EXPECT_THAT(problem("none.pem", key_), HasSubstr("No such file"));
  EXPECT_THAT(problem(certificate_, "none.pem"), HasSubstr("cannot read the TLS key file"));
  EXPECT_THAT(problem(key_, key_), HasSubstr("no usable TLS certificate in"));
  EXPECT_THAT(problem(certificate_, certificate_), HasSubstr("no usable TLS key in"));
  write_pair("other.pem", "other-key.pem");
  EXPECT_THAT(problem(certificate_, "other-key.pem"), HasSubstr("other-key.pem"));
  EXPECT_THAT(problem(certificate_, "other-key.pem"), HasSubstr("mismatch"));
}

TEST_F(TlsTest, serves_requests) {
  TestServer server(options(), test_routes());
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsClient client(server.connect(), version);
    ASSERT_TRUE(client.connected());
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(client.send(get("/live")));
      EXPECT_THAT(client.receive(100), HasSubstr("HTTP/1.1 200 OK\r\n"));
    }
    ASSERT_TRUE(client.send(get("/live", "Connection: close\r\n")));
    EXPECT_THAT(client.receive(1'000), testing::EndsWith("\r\n\r\nup"));
  }
}

TEST_F(TlsTest, carries_large_bodies_both_ways) {
  TestServer server(options(), test_routes());
  TlsClient client(server.connect());
  const std::string body(3'000'000, 'z');
  ASSERT_TRUE(client.send(post("/batch", body, "Connection: close\r\n")));
  EXPECT_THAT(client.receive(4'000'000), testing::EndsWith("\r\n\r\n" + body));
}

TEST_F(TlsTest, ends_with_a_farewell_after_an_early_answer) {
  TestServer server(options(), test_routes());
  TlsClient client(server.connect());
  ASSERT_TRUE(client.send("GARBAGE\r\n\r\n"));
  EXPECT_THAT(client.receive(20), HasSubstr("HTTP/1.1 400"));
  while (!client.receive(1).empty()) {
  }
  EXPECT_TRUE(client.is_closed());
}

TEST_F(TlsTest, refuses_old_versions) {
  TestServer server(options(), test_routes());
  EXPECT_FALSE(TlsClient(server.connect(), TLS1_1_VERSION).connected());
  EXPECT_TRUE(TlsClient(server.connect()).connected());
}

TEST_F(TlsTest, survives_clients_that_do_not_speak_tls) {
  TestServer server(options(), test_routes());
  auto plain = server.connect();
  EXPECT_FALSE(plain.ask(get("/live")));
  auto gone = server.connect();
  gone.close();
  EXPECT_TRUE(TlsClient(server.connect()).connected());
}

TEST_F(TlsTest, bounds_the_handshake) {
  HttpOptions quick = options();
  quick.limits.header_timeout = Millis{50};
  TestServer server(quick, test_routes());
  auto silent = server.connect();
  EXPECT_TRUE(silent.is_closed());
}

}  // namespace
}  // namespace penstock::front
