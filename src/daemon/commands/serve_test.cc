#include "daemon/commands/commands.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cstddef>

#include <algorithm>
#include <array>
#include <string>

namespace penstock::daemon {
namespace {

// The other end: a datagram socket with a name, as systemd holds one for each service.
class Listener {
 public:
  explicit Listener(std::string name)
      : name_(std::move(name)), file_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::ranges::copy(name_, address.sun_path);
    if (name_[0] == '@') address.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size());
    bound_ = ::bind(file_, reinterpret_cast<const sockaddr*>(&address), length) == 0;
  }
  ~Listener() {
    ::close(file_);
    if (name_[0] == '/') ::unlink(name_.c_str());
  }

  bool bound() const { return bound_; }

  std::string received() const {
    std::array<char, 256> text{};
    const ssize_t size = ::recv(file_, text.data(), text.size(), 0);
    return size < 0 ? "nothing" : std::string(text.data(), static_cast<std::size_t>(size));
  }

 private:
  std::string name_;
  int file_;
  bool bound_ = false;
};

TEST(ServiceManager, is_told_by_one_datagram_to_a_path) {
  const std::string path = fmt::format("{}notify-{}", testing::TempDir(), ::getpid());
  const Listener listener(path);
  ASSERT_TRUE(listener.bound());
  EXPECT_TRUE(tell_service_manager(path.c_str(), "READY=1\nSTATUS=serving"));
  EXPECT_EQ(listener.received(), "READY=1\nSTATUS=serving");
  EXPECT_EQ(listener.received(), "nothing");
}

TEST(ServiceManager, is_told_by_a_name_that_is_no_file) {
  const std::string name = fmt::format("@penstock-notify-{}", ::getpid());
  const Listener listener(name);
  ASSERT_TRUE(listener.bound());
  EXPECT_TRUE(tell_service_manager(name.c_str(), "STOPPING=1"));
  EXPECT_EQ(listener.received(), "STOPPING=1");
}

TEST(ServiceManager, is_not_told_when_there_is_none) {
  EXPECT_FALSE(tell_service_manager(nullptr, "READY=1"));
  EXPECT_FALSE(tell_service_manager("", "READY=1"));
  EXPECT_FALSE(tell_service_manager("/", "READY=1"));
  EXPECT_FALSE(tell_service_manager("relative/path", "READY=1"));
  EXPECT_FALSE(tell_service_manager("/nonexistent/notify", "READY=1"));
  EXPECT_FALSE(tell_service_manager(("/" + std::string(200, 'x')).c_str(), "READY=1"));
}

}  // namespace
}  // namespace penstock::daemon
