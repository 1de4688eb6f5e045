// Hand-overs a second: the HTTP sink against bare sockets that exchange the same bytes with the
// same server over as many connections, on one thread too; and the log sink.
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "core/dispatch/item_type.h"
#include "runtime/clocks.h"
#include "sink/http/http_client.h"
#include "sink/http/request.h"
#include "sink/log/log_sink.h"

namespace {

using namespace penstock;
using namespace penstock::sink;

constexpr double kSeconds = 3;
constexpr int kConnections = 32;  // an item type's default
constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

int epoll_of(const std::vector<int>& fds) {
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  for (const int fd : fds) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    PENSTOCK_CHECK(::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
  }
  return epoll;
}

// Sends `bytes` back for whatever comes at once: the requests here are one packet each.
bool reply(int fd, std::string_view bytes) {
  std::array<char, 16 * 1024> received;
  if (::recv(fd, received.data(), received.size(), 0) <= 0) return false;
  return ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

class FixedServer {
 public:
  FixedServer() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    PENSTOCK_CHECK(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    PENSTOCK_CHECK(::listen(listener_, 1'024) == 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~FixedServer() {
    stop_ = true;
    thread_.join();
    ::close(listener_);
  }
  std::uint16_t port() const { return port_; }

 private:
  void run() {
    const int epoll = epoll_of({listener_});
    std::array<epoll_event, 64> events;
    while (!stop_) {
      const int count = ::epoll_wait(epoll, events.data(), events.size(), 50);
      for (int i = 0; i < count; ++i) {
        const int fd = events[static_cast<std::size_t>(i)].data.fd;
        if (fd == listener_) {
          const int accepted = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
          const int on = 1;
          ::setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
          epoll_event event{.events = EPOLLIN, .data = {.fd = accepted}};
          ::epoll_ctl(epoll, EPOLL_CTL_ADD, accepted, &event);
        } else if (!reply(fd, kAnswer)) {
          ::close(fd);
        }
      }
    }
    ::close(epoll);
  }

  const int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::uint16_t port_ = 0;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

Handover item() {
  return {.type = ItemType::trusted("PAYMENT"),
          .id = ItemId::trusted("payment-000000000001"),
          .scheduled = Instant{Seconds{1'700'000'000}},
          .context = R"({"amount":"125.50","currency":"EUR","debtor":"DE00","creditor":"FR00"})"};
}

double bare_sockets(std::uint16_t port, const std::string& request) {
  std::vector<int> fds;
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int i = 0; i < kConnections; ++i) {
    fds.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int on = 1;
    ::setsockopt(fds.back(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    PENSTOCK_CHECK(::connect(fds.back(), reinterpret_cast<sockaddr*>(&to), sizeof to) == 0);
    PENSTOCK_CHECK(::send(fds.back(), request.data(), request.size(), 0) > 0);
  }
  const int epoll = epoll_of(fds);
  std::array<epoll_event, 64> events;
  std::int64_t answers = 0;
  const runtime::Stopwatch watch;
  while (watch.seconds() < kSeconds) {
    const int count = ::epoll_wait(epoll, events.data(), events.size(), 50);
    for (int i = 0; i < count; ++i) {
      PENSTOCK_CHECK(reply(events[static_cast<std::size_t>(i)].data.fd, request));
    }
    answers += count;
  }
  const double rate = static_cast<double>(answers) / watch.seconds();
  for (const int fd : fds) ::close(fd);
  ::close(epoll);
  return rate;
}

// Of the thread of that name, so far.
double cpu_seconds(std::string_view name) {
  double ticks = 0;
  DIR* const tasks = ::opendir("/proc/self/task");
  while (const dirent* const task = ::readdir(tasks)) {
    const std::string folder = std::string("/proc/self/task/") + task->d_name;
    std::string comm;
    std::getline(std::ifstream(folder + "/comm"), comm);
    if (comm != name) continue;
    std::ifstream stat(folder + "/stat");
    std::string field;
    for (int i = 1; stat >> field; ++i) {
      if (i == 14 || i == 15) ticks += std::stod(field);  // user and system time
    }
  }
  ::closedir(tasks);
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

struct Measured {
  double rate;
  double cpu;  // of the sink's thread, in cores
};

Measured http_sink(std::uint16_t port, const std::vector<std::string>& secrets) {
  const runtime::SystemClock clock;
  const auto client = std::move(*HttpClient::make(clock, {.user_agent = "Penstock/1"}));
  const auto sink =
      std::move(*client->open_sink({.url = "http://127.0.0.1:" + std::to_string(port) + "/hook",
                                    .secrets = secrets,
                                    .concurrency = kConnections}));
  std::atomic<std::int64_t> answers{0};
  std::atomic<bool> stop{false};
  std::function<void()> send = [&] {
    sink->send(item(), [&](SinkAnswer answer) {
      if (stop) return;
      PENSTOCK_CHECK(answer.outcome == SinkOutcome::done);
      answers.fetch_add(1, std::memory_order_relaxed);
      send();
    });
  };
  for (int i = 0; i < kConnections; ++i) send();
  const runtime::Stopwatch watch;
  const double cpu_before = cpu_seconds("sink-http");
  std::this_thread::sleep_for(std::chrono::duration<double>(kSeconds));
  const double seconds = watch.seconds();
  const Measured measured{.rate = static_cast<double>(answers) / seconds,
                          .cpu = (cpu_seconds("sink-http") - cpu_before) / seconds};
  stop = true;
  return measured;
}

double log_sink() {
  const runtime::SystemClock clock;
  const int fd = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  Log log(clock, fd, LogLevel::info, LogFormat::json);
  std::int64_t answers = 0;
  const runtime::Stopwatch watch;
  {
    LogSink sink(log);
    while (watch.seconds() < 1) {
      for (int i = 0; i < 1'000; ++i) sink.send(item(), [&](SinkAnswer) { ++answers; });
    }
  }
  ::close(fd);
  return static_cast<double>(answers) / watch.seconds();
}

}  // namespace

int main() {
  const FixedServer server;
  const Handover one = item();
  std::string request;
  RequestWriter writer(*wire::parse_http_url("http://127.0.0.1:80/hook"), "Penstock/1",
                       std::move(*WebhookSigner::make({})));
  PENSTOCK_CHECK(writer.write(request, one, one.context, Instant{Seconds{1'700'000'000}}));
  request += one.context + std::string(RequestWriter::kBodyEnd);

  const double bare = bare_sockets(server.port(), request);
  const Measured plain = http_sink(server.port(), {});
  const Measured with_signature = http_sink(server.port(), {"0123456789abcdef"});
  const double logged = log_sink();
  std::printf("requests of %zu bytes, %d connections, one thread, loopback\n", request.size(),
              kConnections);
  std::printf("bare sockets         %8.0f/s\n", bare);
  std::printf("http sink            %8.0f/s with %.2f cores\n", plain.rate, plain.cpu);
  std::printf("http sink, signed    %8.0f/s with %.2f cores\n", with_signature.rate,
              with_signature.cpu);
  std::printf("log sink             %8.0f/s\n", logged);
  std::printf("ratio http_sink_over_bare_sockets %.2f goal 0.40\n", plain.rate / bare);
  std::printf("ratio signed_http_sink_over_15000 %.2f goal 1.00\n", with_signature.rate / 15'000);
  std::printf("ratio log_sink_over_200000 %.2f goal 1.00\n", logged / 200'000);
}
