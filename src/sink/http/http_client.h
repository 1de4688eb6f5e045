// What all HTTP sinks of a process share: one thread that does their input and output, two that
// resolve names, and the certificates they trust. Must outlive its sinks. Thread-safe.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/result.h"
#include "base/time.h"
#include "sink/kinds.h"
#include "sink/sink.h"
#include "wire/http_url.h"

namespace penstock::sink {

struct HttpSettings {
  std::string url;
  // Each signs, so that keys can be changed: a receiver needs to know one of them. None = unsigned.
  std::vector<std::string> secrets;
  Millis timeout = Seconds{10};
  std::int64_t concurrency = 32;

  core::SinkTraits traits() const { return {.concurrency = static_cast<std::size_t>(concurrency)}; }
  Result<SinkPlace> place() const;
};

struct HttpClientOptions {
  std::string user_agent = "Penstock";
  std::string ca_file;  // PEM; certificates to trust beside the machine's own; empty = none
  // Connects to no loopback, private or otherwise special address: for installations where those
  // who may set an item type's URL are not trusted with the network that Penstock stands in. What
  // counts is the address that is connected to, so a name that changes its mind gains nothing.
  bool refuse_private_addresses = false;
};

class Loop;

class HttpClient {
 public:
  // A CA file that cannot be used is `invalid`. `clock` must outlive the client.
  static Result<std::unique_ptr<HttpClient>> make(const Clock& clock, HttpClientOptions options);
  // Waits for names that are being resolved, which the machine's resolver bounds.
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // A sink that posts every hand-over to `settings.url`. The time-out counts from send() to the end
  // of the answer. At most `settings.concurrency` connections, kept open while they are of use;
  // what comes meanwhile waits. Its answers come on the client's thread, which must not destroy it.
  // `invalid` for a URL or a secret that cannot be used.
  Result<std::unique_ptr<Sink>> open_sink(const HttpSettings& settings);

 private:
  explicit HttpClient(std::unique_ptr<Loop> loop);

  const std::unique_ptr<Loop> loop_;
};

// `client` must outlive the sinks; null = the kind can be described only.
SinkKind http_kind(HttpClient* client);

std::string url_problem(const FieldValue& value);
std::string webhook_secrets_problem(const FieldValue& value);

}  // namespace penstock::sink

namespace penstock {

template <>
struct Description<sink::HttpSettings> {
  using Settings = sink::HttpSettings;
  static constexpr std::string_view name = "HttpSink";
  static constexpr std::array fields = {
      place(required(checked(range(field<&Settings::url>("url", "An http:// or https:// address."),
                                   1, wire::kHttpUrlBytesMax),
                             sink::url_problem))),
      secret(
          checked(each(field<&Settings::secrets>(
                           "secrets",
                           "At most five, of 16 to 512 bytes. Each signs the hand-over (Standard "
                           "Webhooks), so that keys can be changed. Write-only."),
                       5, 16, 512),
                  sink::webhook_secrets_problem)),
      range(field<&Settings::timeout>("timeoutMs", "From the hand-over to the end of the answer."),
            1, 600'000),
      range(field<&Settings::concurrency>("concurrency", "Hand-overs under way at once."), 1,
            1'024)};
};

}  // namespace penstock
