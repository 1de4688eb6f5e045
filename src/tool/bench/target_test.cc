#include "tool/bench/target.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cstring>

namespace penstock::tool::bench {
namespace {

Target at(const std::string& numeric) {
  const Result<Target> target = resolve(numeric, 80);
  EXPECT_TRUE(target) << numeric;
  return target.value_or(Target{});
}

TEST(Target, knows_its_own_machine_by_the_address) {
  for (const char* own : {"127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(at(own).is_loopback()) << own;
    EXPECT_TRUE(may_load(at(own), "")) << own;
  }
  for (const char* other :
       {"192.0.2.1", "10.0.0.1", "0.0.0.0", "2001:db8::1", "::ffff:192.0.2.1"}) {
    EXPECT_FALSE(at(other).is_loopback()) << other;
  }
}

TEST(Target, loads_another_machine_only_when_its_name_is_said_twice) {
  const Target other = at("192.0.2.1");
  const Result<void> refused = may_load(other, "");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what,
            "192.0.2.1 is not this machine; to put load on it, say --yes-load 192.0.2.1");
  EXPECT_FALSE(may_load(other, "192.0.2.2"));
  EXPECT_TRUE(may_load(other, "192.0.2.1"));
}

TEST(Target, a_port_where_nobody_listens_is_said) {
  // Bound and not listening: nobody else can take the port meanwhile.
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  socklen_t size = sizeof address;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  const std::uint16_t port = ntohs(address.sin_port);
  const Result<Target> target = resolve("127.0.0.1", port);
  ASSERT_TRUE(target);
  const Result<void> found = probe(*target, Seconds{5});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().what,
            "cannot reach 127.0.0.1:" + std::to_string(port) + ": Connection refused");
  ::close(fd);
}

}  // namespace
}  // namespace penstock::tool::bench
