// TLS with a verified certificate, and users with passwords.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "store/redis/testing/ask.h"
#include "store/redis/testing/test_server.h"

namespace penstock::store::redis {
namespace {

int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ::bind(fd, reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(fd);
  return ntohs(address.sin_port);
}

// A folder with a certificate that signs itself, for 127.0.0.1.
class Certificates {
 public:
  Certificates() {
    std::string name = (std::filesystem::temp_directory_path() / "penstock-tls-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    const std::string command =
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test -addext "
        "subjectAltName=IP:127.0.0.1 -keyout " +
        key() + " -out " + certificate() + " 2>/dev/null";
    made_ = std::system(command.c_str()) == 0;
  }
  ~Certificates() { std::filesystem::remove_all(folder_); }
  bool made() const { return made_; }
  std::string key() const { return folder_ + "/key.pem"; }
  std::string certificate() const { return folder_ + "/certificate.pem"; }

 private:
  std::string folder_;
  bool made_ = false;
};

class Tls : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(certificates_.made());
    port_ = free_port();
    server_ = std::make_unique<TestServer>(std::vector<std::string>{
        "--set", "appendonly=no", "--set", "tls-port=" + std::to_string(port_), "--set",
        "tls-cert-file=" + certificates_.certificate(), "--set",
        "tls-key-file=" + certificates_.key(), "--set",
        "tls-ca-cert-file=" + certificates_.certificate(), "--set", "tls-auth-clients=no"});
    ASSERT_TRUE(server_->problem().empty()) << server_->problem();
  }
  std::string url(const std::string& credentials = {}) const {
    return "rediss://" + credentials + "127.0.0.1:" + std::to_string(port_);
  }

  const Certificates certificates_;
  int port_ = 0;
  std::unique_ptr<TestServer> server_;
};

TEST_F(Tls, decides_over_tls_and_only_for_a_certificate_it_knows) {
  const auto store =
      open_store({.url = url(), .deadline = Seconds{20}, .ca_file = certificates_.certificate()});
  EXPECT_EQ(ask(*store, "k", bucket_of(1)), true);
  EXPECT_EQ(ask(*store, "k", bucket_of(1)), false);
  EXPECT_TRUE(store->backend().health->check());
  // Replies larger than one record.
  const core::Limit log{
      .type = core::LimitType::sliding_window, .capacity = 100'000, .window = Seconds{3'600}};
  for (int i = 0; i < 1'500; ++i) ASSERT_TRUE(ask(*store, "log", log));
  EXPECT_EQ(used_of(*store, "log"), 1'500);

  const auto stranger = open_store({.url = url(), .deadline = Seconds{20}});
  const Result<bool> refused = ask(*stranger, "k", bucket_of(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
  EXPECT_NE(refused.error().what.find("certificate"), std::string::npos) << refused.error().what;
  const auto named = open_store({.url = "rediss://localhost:" + std::to_string(port_),
                                 .deadline = Seconds{20},
                                 .ca_file = certificates_.certificate()});
  EXPECT_FALSE(ask(*named, "k", bucket_of(1))) << "the certificate is for another name";
}

TEST_F(Tls, a_plain_port_is_no_tls_port) {
  const auto store = open_store({.url = "rediss://127.0.0.1:" + std::to_string(server_->port()),
                                 .deadline = Millis{500},
                                 .ca_file = certificates_.certificate()});
  EXPECT_FALSE(ask(*store, "k", bucket_of(1)));
  const auto missing = RedisStore::open({.url = url(), .ca_file = "/nonexistent"}, nullptr);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::invalid);
}

TEST_F(Tls, takes_users_passwords_and_databases) {
  const auto with = [&](const std::string& redis_url, const std::string& password = {}) {
    return open_store({.url = redis_url,
                       .password = password,
                       .deadline = Seconds{20},
                       .ca_file = certificates_.certificate()});
  };
  // The rights that docs/redis.md names.
  ASSERT_EQ(server_->cli("ACL SETUSER limiter on '>p@ss:word' '~penstock:*' '~{penstock:*' +@read "
                         "+@write +@scripting +@connection '+cluster|slots' +time"),
            "OK");
  ASSERT_EQ(server_->cli("CONFIG SET requirepass other"), "OK");
  const auto limited = with(url("limiter:p%40ss%3Aword@"));
  EXPECT_TRUE(ask(*limited, "k", bucket_of(5)));
  EXPECT_TRUE(limited->backend().limits.store->list("", 10, std::nullopt));
  EXPECT_TRUE(limited->backend().limits.policies->create(
      {.key = "k", .limit = bucket_of(5, {1, 1'000'000}), .refill_text = "1"}, std::nullopt));
  EXPECT_TRUE(limited->backend().limits.policies->list("", 10));
  EXPECT_TRUE(limited->backend().limits.nodes->beat("here", Seconds{1}));
  EXPECT_TRUE(limited->backend().health->check());
  EXPECT_TRUE(ask(*with(url("limiter@"), "p@ss:word"), "k", bucket_of(5)));
  EXPECT_TRUE(ask(*with(url(":other@") + "/3"), "k", bucket_of(5)));
  EXPECT_EQ(server_->cli("-a other --no-auth-warning -n 3 EXISTS penstock:k"), "1");
  EXPECT_FALSE(ask(*with(url()), "k", bucket_of(5)));
  EXPECT_FALSE(ask(*with(url("limiter:wrong@")), "k", bucket_of(5)));
  EXPECT_EQ(used_of(*with(url(":other@")), "k"), 2);
}

}  // namespace
}  // namespace penstock::store::redis
