// The sink against a provider that follows a script, on a real socket: what the world does wrong.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sink/smpp/smpp_client.h"
#include "sink/test_answers.h"
#include "wire/smpp.h"

namespace penstock::sink {
namespace {

using wire::SmppCommand;

class SystemTime final : public Clock {
 public:
  Instant now() const noexcept override { return Instant{}; }
};

// One connection of the provider, blocking.
class Peer {
 public:
  explicit Peer(int fd) : fd_(fd) {}
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() { ::close(fd_); }

  // The next unit's header and body; none when the other side has gone.
  std::optional<std::pair<wire::SmppHeader, std::string>> read() {
    for (;;) {
      const wire::SmppFrame frame = wire::read_smpp_frame(input_);
      if (frame.state == wire::SmppFrame::State::complete) {
        std::pair unit(frame.header, std::string(frame.body));
        input_.erase(0, frame.size);
        return unit;
      }
      char buffer[4096];
      const ssize_t got = ::recv(fd_, buffer, sizeof(buffer), 0);
      if (got <= 0) return std::nullopt;
      input_.append(buffer, static_cast<std::size_t>(got));
    }
  }
  void write(std::string_view bytes) { ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  void answer(SmppCommand command, std::uint32_t sequence, std::uint32_t status = 0,
              std::string_view id = "") {
    std::string out;
    wire::append_smpp_answer(out, {.command = command, .status = status, .sequence = sequence}, id);
    write(out);
  }
  void accept_bind() {
    const auto bind = read();
    if (bind) answer(SmppCommand::bind_transceiver_resp, bind->first.sequence, 0, "smsc");
  }
  void read_to_end() {
    while (read()) {
    }
  }

 private:
  const int fd_;
  std::string input_;
};

// Runs a script for each connection, in turn; the last one for all further.
class Provider {
 public:
  using Script = std::function<void(Peer&)>;

  explicit Provider(std::vector<Script> scripts) : scripts_(std::move(scripts)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~Provider() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  std::int64_t port() const { return port_; }
  int connections() const { return connections_; }

 private:
  void run() {
    for (;;) {
      const int fd = ::accept(listener_, nullptr, nullptr);
      if (fd < 0) return;
      const auto number = static_cast<std::size_t>(connections_++);
      Peer peer(fd);
      scripts_[std::min(number, scripts_.size() - 1)](peer);
    }
  }

  const std::vector<Script> scripts_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> connections_ = 0;
  std::thread thread_;
};

// Keeps nothing, or says so.
class Book final : public ReceiptBook {
 public:
  explicit Book(bool keeps) : keeps_(keeps) {}
  void note_taken(TakenMessage&&, Kept kept) override { kept(keeps_); }
  void note_receipt(ProviderReceipt&& receipt, Kept kept) override {
    last = receipt.provider + " " + receipt.reference;
    kept(keeps_);
  }
  std::string last;

 private:
  const bool keeps_;
};

class SmppSinkTest : public testing::Test {
 protected:
  std::unique_ptr<Sink> open(const Provider& provider, Millis timeout = Seconds{10}) {
    SmppSettings settings;
    settings.timeout = timeout;
    settings.host = "127.0.0.1";
    settings.port = provider.port();
    settings.system_id = "me";
    return client_.open_sink(settings);
  }
  void send(Sink& sink, const std::string& id = "m") {
    Handover item{.type = ItemType::trusted("SMS"), .id = ItemId::trusted(id)};
    item.context = R"({"userId":5,"message":"Hi"})";
    sink.send(std::move(item), answers_.taker());
  }
  // Until it was taken; how often it had to come back.
  int send_until_done(Sink& sink) {
    for (std::size_t count = 1;; ++count) {
      send(sink);
      if (answers_.wait(count).back().outcome == SinkOutcome::done) return static_cast<int>(count);
    }
  }

  SystemTime clock_;
  Log log_{clock_, 2, LogLevel::off, LogFormat::text};
  runtime::Metrics metrics_;
  Book book_{true};
  Answers answers_;
  SmppClient client_{
      log_, metrics_, &book_, {.retry_first = Millis{2}, .retry_most = Millis{20}, .seed = 1}};
};

void take_all(Peer& peer) {
  peer.accept_bind();
  while (const auto unit = peer.read()) {
    if (unit->first.command == SmppCommand::submit_sm) {
      peer.answer(SmppCommand::submit_sm_resp, unit->first.sequence, 0, "x1");
    }
    if (unit->first.command == SmppCommand::unbind) {
      peer.answer(SmppCommand::unbind_resp, unit->first.sequence);
    }
  }
}

TEST_F(SmppSinkTest, sends_when_bound_and_is_healthy_then) {
  const Provider provider({take_all});
  const auto sink = open(provider);
  send_until_done(*sink);
  EXPECT_EQ(answers_.wait(answers_.size()).back().detail, "taken as x1");
  EXPECT_TRUE(client_.health());
}

TEST_F(SmppSinkTest, answers_in_pieces_are_put_together) {
  const Provider provider({[](Peer& peer) {
    const auto bind = peer.read();
    std::string out;
    wire::append_smpp_answer(
        out, {.command = SmppCommand::bind_transceiver_resp, .status = 0, .sequence = 1}, "smsc");
    const auto submit = [&] {
      for (const char byte : out) peer.write({&byte, 1});
      return peer.read();
    }();
    if (!bind || !submit) return;
    out.clear();
    wire::append_smpp_answer(
        out,
        {.command = SmppCommand::submit_sm_resp, .status = 0, .sequence = submit->first.sequence},
        "split");
    for (const char byte : out) peer.write({&byte, 1});
    peer.read_to_end();
  }});
  const auto sink = open(provider);
  send_until_done(*sink);
  EXPECT_EQ(answers_.wait(answers_.size()).back().detail, "taken as split");
}

TEST_F(SmppSinkTest, binds_anew_after_nonsense_a_cut_or_silence) {
  const Provider provider({[](Peer&) {},  // closes at once
                           [](Peer& peer) { peer.write("HTTP/1.1 400 Bad Request\r\n\r\n"); },
                           [](Peer& peer) {
                             peer.accept_bind();
                             peer.write(std::string(4, '\0'));
                             peer.read_to_end();
                           },
                           [](Peer& peer) { peer.read_to_end(); },  // never answers the bind
                           [](Peer& peer) {
                             const auto bind = peer.read();
                             if (bind) {
                               peer.answer(SmppCommand::bind_transceiver_resp, bind->first.sequence,
                                           0x0D);
                             }
                             peer.read_to_end();
                           },
                           take_all});
  const auto sink = open(provider, Millis{200});
  send_until_done(*sink);
  EXPECT_EQ(provider.connections(), 6);
}

TEST_F(SmppSinkTest, a_cut_with_a_submit_unanswered_is_a_failed_attempt) {
  const Provider provider({[](Peer& peer) {
                             peer.accept_bind();
                             peer.read();  // the submit
                           },
                           take_all});
  const auto sink = open(provider);
  bool failed = false;
  for (std::size_t count = 1;; ++count) {
    send(*sink);
    const SinkAnswer answer = answers_.wait(count).back();
    if (answer.outcome == SinkOutcome::done) break;
    failed |= answer.outcome == SinkOutcome::failed;
  }
  EXPECT_TRUE(failed);
}

TEST_F(SmppSinkTest, a_receipt_is_confirmed_when_it_is_kept_and_else_sent_back) {
  for (const bool keeps : {true, false}) {
    Book book(keeps);
    runtime::Metrics metrics;
    SmppClient client(log_, metrics, &book,
                      {.retry_first = Millis{2}, .retry_most = Millis{20}, .seed = 1});
    std::atomic<std::uint32_t> status = 0xFFFF;
    const Provider provider({[&](Peer& peer) {
      peer.accept_bind();
      std::string out;
      wire::append_smpp_message(
          out, {.command = SmppCommand::deliver_sm, .status = 0, .sequence = 9},
          {.esm_class = wire::kEsmClassReceipt, .text = "id:77 stat:DELIVRD"});
      peer.write(out);
      const auto answer = peer.read();
      if (answer && answer->first.command == SmppCommand::deliver_sm_resp) {
        status = answer->first.status;
        status.notify_all();
      }
      peer.read_to_end();
    }});
    SmppSettings settings;
    settings.host = "127.0.0.1";
    settings.port = provider.port();
    settings.system_id = "me";
    const auto sink = client.open_sink(settings);
    status.wait(0xFFFF);
    EXPECT_EQ(status, keeps ? wire::kSmppOk : wire::kSmppTryAgain);
    EXPECT_EQ(book.last, "me@127.0.0.1 77");
  }
}

TEST_F(SmppSinkTest, nobody_there_is_a_pause_and_not_an_attempt) {
  std::int64_t port = 0;
  {
    const Provider gone({take_all});
    port = gone.port();
  }
  SmppSettings settings;
  settings.host = "127.0.0.1";
  settings.port = port;
  settings.system_id = "me";
  const auto sink = client_.open_sink(settings);
  send(*sink);
  const SinkAnswer answer = answers_.wait(1).front();
  EXPECT_EQ(answer.outcome, SinkOutcome::slow_down);
  EXPECT_NE(answer.detail.find("Connection refused"), std::string::npos) << answer.detail;
  EXPECT_TRUE(answer.pause);
  EXPECT_EQ(client_.health().error().kind, ErrorKind::unavailable);
}

TEST_F(SmppSinkTest, private_addresses_may_be_refused) {
  const Provider provider({take_all});
  runtime::Metrics metrics;
  SmppClient client(log_, metrics, &book_,
                    {.refuse_private_addresses = true, .retry_first = Millis{2}, .seed = 1});
  SmppSettings settings;
  settings.host = "127.0.0.1";
  settings.port = provider.port();
  settings.system_id = "me";
  const auto sink = client.open_sink(settings);
  send(*sink);
  EXPECT_NE(answers_.wait(1).front().detail.find("private addresses"), std::string::npos);
  EXPECT_EQ(provider.connections(), 0);
}

TEST_F(SmppSinkTest, answers_what_is_under_way_when_it_ends) {
  const Provider provider({[](Peer& peer) {
    peer.accept_bind();
    peer.read_to_end();  // takes submits and says nothing
  }});
  {
    const auto sink = open(provider);
    while (!client_.health()) std::this_thread::yield();
    for (int i = 0; i < 5; ++i) send(*sink, "m" + std::to_string(i));
  }
  for (const SinkAnswer& answer : answers_.wait(5)) EXPECT_EQ(answer.outcome, SinkOutcome::failed);
}

}  // namespace
}  // namespace penstock::sink
