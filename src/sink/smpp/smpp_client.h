// What all SMPP sinks of a process share: where receipts go, how they are counted and logged, and
// whether the sessions stand. Must outlive its sinks. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/describe.h"
#include "base/log.h"
#include "base/result.h"
#include "runtime/metrics.h"
#include "runtime/task_queue.h"
#include "sink/kinds.h"
#include "sink/receipt_book.h"
#include "sink/sink.h"

namespace penstock::sink {

// How a provider's receipts write the number by which its answers called a message: as these do, or
// in decimal where they are in hex, or the other way round.
enum class ReceiptIds : std::uint8_t { same, decimal, hex };

// A provider of text messages that speaks SMPP 3.4.
struct SmppSettings {
  std::string host;
  std::int64_t port = 2'775;  // the protocol's own
  std::string system_id;
  std::string password;
  std::string system_type;
  std::string source;                      // empty = what the provider has set
  std::optional<std::int64_t> source_ton;  // none = by the form of `source`
  std::optional<std::int64_t> source_npi;
  bool receipts = true;
  ReceiptIds receipt_ids = ReceiptIds::same;
  Millis timeout = Seconds{10};
  std::int64_t concurrency = 32;  // parts of messages

  // Its provider reports whenever it does, so the session stands while there is nothing to send.
  core::SinkTraits traits() const {
    return {.concurrency = static_cast<std::size_t>(concurrency), .stays_open = true};
  }
  Result<SinkPlace> place() const {
    return SinkPlace{.host = host, .port = static_cast<std::uint16_t>(port)};
  }
};

struct SmppOptions {
  bool refuse_private_addresses = false;  // as HttpClientOptions has it
  // How long a provider that could not be reached is left alone: doubles with every failure.
  Millis retry_first{500};
  Millis retry_most = Seconds{30};
  Millis look_after = Seconds{30};  // of silence, by enquire_link
  std::uint64_t seed = 0;
};

class SmppClient {
 public:
  // All must outlive the client. `book` may be null: then nobody keeps receipts.
  SmppClient(Log& log, runtime::Metrics& metrics, ReceiptBook* book, SmppOptions options);
  ~SmppClient();
  SmppClient(const SmppClient&) = delete;
  SmppClient& operator=(const SmppClient&) = delete;

  // A sink that submits every hand-over as a text message. It binds at once and stays bound, since
  // receipts come whenever they do; a thread of its own does its input and output. At most
  // `settings.concurrency` parts are under way; `settings.timeout` counts from send() to the last
  // answer. While it is not bound, hand-overs are told to come back.
  std::unique_ptr<Sink> open_sink(const SmppSettings& settings);

  // Why a session does not stand; does not block.
  Result<void> health() const;

  struct Counters {
    explicit Counters(runtime::Metrics& metrics);
    runtime::Counter& accepted;
    runtime::Counter& throttled;
    runtime::Counter& refused;
    runtime::Counter& failed;
    runtime::Counter& receipts;
    runtime::Counter& ignored;
    runtime::Counter& binds;
  };

 private:
  friend class SmppSink;

  // What each session's state is, by a number of its own; empty = bound.
  std::size_t add_session(std::string problem);
  void set_session(std::size_t session, std::string problem);
  void remove_session(std::size_t session);

  Log& log_;
  Counters counters_;
  ReceiptBook* const book_;
  const SmppOptions options_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::string> sessions_;  // guarded by mutex_
  std::size_t last_session_ = 0;                 // guarded by mutex_
  runtime::TaskQueue resolver_;                  // the machine's resolver blocks
};

// `client` must outlive the sinks; null = the kind can be described only.
SinkKind smpp_kind(SmppClient* client);

// Fields of SMPP are printable ASCII.
std::string ascii_problem(const FieldValue& value);
consteval FieldInfo ascii(FieldInfo info, std::int64_t max) {
  return checked(range(info, info.required ? 1 : 0, max), ascii_problem);
}

}  // namespace penstock::sink

namespace penstock {

template <>
struct Choices<sink::ReceiptIds> {
  static constexpr std::array<std::string_view, 3> names = {"same", "decimal", "hex"};
};

// The bounds are the protocol's own, but for the password: some providers' are longer than 8.
template <>
struct Description<sink::SmppSettings> {
  using Settings = sink::SmppSettings;
  static constexpr std::string_view name = "SmppSink";
  static constexpr std::array fields = {
      place(sink::ascii(required(field<&Settings::host>("host", "The message centre.")), 255)),
      place(range(field<&Settings::port>("port", "The message centre's port."), 1, 65'535)),
      sink::ascii(required(field<&Settings::system_id>("systemId", "Who we are to the provider.")),
                  15),
      secret(sink::ascii(field<&Settings::password>("password", "Write-only."), 64)),
      sink::ascii(field<&Settings::system_type>("systemType", "What we are to the provider."), 12),
      sink::ascii(field<&Settings::source>("source", "What phones show as the sender."), 20),
      range(field<&Settings::source_ton>("sourceTon", "None = by the form of `source`."), 0, 6),
      range(field<&Settings::source_npi>("sourceNpi", "None = by the form of `source`."), 0, 18),
      field<&Settings::receipts>("receipts", "Ask what becomes of each message."),
      field<&Settings::receipt_ids>("receiptIds",
                                    "How receipts write the ids of messages, where answers write "
                                    "them otherwise."),
      range(field<&Settings::timeout>("timeoutMs", "From the hand-over to the last answer."), 1,
            600'000),
      range(field<&Settings::concurrency>("concurrency", "Parts of messages under way at once."), 1,
            1'024)};
};

}  // namespace penstock
