// As little as a server can do: answers every request of the benchmark with the same bytes, without
// looking at more than how many there are. Two epoll loops, as the daemon has on two cores.
//   bench_resp_fixed THREADS    prints its port and runs until it is killed
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr std::string_view kReply = "*5\r\n:0\r\n:1000001\r\n:1000000\r\n:-1\r\n:1\r\n";
constexpr std::string_view kOther = "*0\r\n";  // to CONFIG GET, which redis-benchmark asks first

// Requests begin with '*', which stands nowhere else in what the benchmark sends.
void serve(int epoll) {
  std::array<epoll_event, 256> events;
  std::vector<char> in(64 * 1024);
  std::string out;
  for (;;) {
    const int count = ::epoll_wait(epoll, events.data(), 256, -1);
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      const ssize_t got = ::recv(fd, in.data(), in.size(), 0);
      if (got <= 0) {
        ::close(fd);
        continue;
      }
      const std::string_view text(in.data(), static_cast<std::size_t>(got));
      const std::string_view reply =
          text.find("CONFIG") != text.npos && text.size() < 100 ? kOther : kReply;
      out.clear();
      for (const char c : text) {
        if (c == '*') out += reply;
      }
      if (::send(fd, out.data(), out.size(), MSG_NOSIGNAL) < 0) ::close(fd);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 2;
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  const int on = 1;
  ::setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  if (::bind(listener, reinterpret_cast<sockaddr*>(&at), size) != 0 ||
      ::listen(listener, 1024) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size) != 0) {
    std::perror("listen");
    return 1;
  }
  std::vector<int> loops;
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    loops.push_back(::epoll_create1(0));
    running.emplace_back(serve, loops.back());
  }
  std::printf("ready %d\n", ntohs(at.sin_port));
  std::fflush(stdout);
  for (std::size_t turn = 0;; ++turn) {
    const int fd = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
    if (fd < 0) continue;
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    ::epoll_ctl(loops[turn % loops.size()], EPOLL_CTL_ADD, fd, &event);
  }
}
