// What all HTTP sinks of a process share: one thread that does their input and output, two that
// resolve names, and the certificates they trust. Must outlive its sinks. Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "core/dispatch/item_type.h"
#include "sink/sink.h"

namespace penstock::sink {

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
  Result<std::unique_ptr<Sink>> open_sink(const core::SinkSettings& settings);

 private:
  explicit HttpClient(std::unique_ptr<Loop> loop);

  const std::unique_ptr<Loop> loop_;
};

}  // namespace penstock::sink
