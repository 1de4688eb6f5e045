// For tests: an HTTP sink with its client, and the answers it gives.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "sink/http/http_client.h"
#include "sink/sink.h"
#include "sink/test_answers.h"

namespace penstock::sink {

inline constexpr Instant kTestNow{Seconds{1'700'000'100}};

inline Handover handover(const std::string& id = "p-1", std::string context = "{}") {
  return {.type = ItemType::trusted("PAYMENT"),
          .id = ItemId::trusted(id),
          .scheduled = Instant{Seconds{1'700'000'000}},
          .attempt = 3,
          .context = std::move(context)};
}

inline HttpSettings http_settings(std::string url, Millis timeout = Seconds{20}) {
  return {.url = std::move(url), .timeout = timeout};
}

class TestSink {
 public:
  explicit TestSink(const HttpSettings& settings, HttpClientOptions options = {}) {
    auto client = HttpClient::make(clock_, std::move(options));
    EXPECT_TRUE(client) << client.error().what;
    client_ = std::move(*client);
    auto sink = client_->open_sink(settings);
    EXPECT_TRUE(sink) << sink.error().what;
    sink_ = std::move(*sink);
  }

  void send(Handover&& item) { sink_->send(std::move(item), answers_.taker()); }
  // Sends one and waits for what becomes of it.
  SinkAnswer ask(Handover&& item = handover()) {
    Answers one;
    sink_->send(std::move(item), one.taker());
    std::vector<SinkAnswer> answers = one.wait(1);
    return answers.empty() ? SinkAnswer{.detail = "no answer"} : std::move(answers.front());
  }

  HttpClient& client() { return *client_; }
  Answers& answers() { return answers_; }
  void close() { sink_.reset(); }

 private:
  const SimulatedClock clock_{kTestNow};
  Answers answers_;
  std::unique_ptr<HttpClient> client_;
  std::unique_ptr<Sink> sink_;
};

}  // namespace penstock::sink
