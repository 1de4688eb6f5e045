// Messages by a bus outside of the store: a batch is charged in one step and published, and each
// message is answered by its own delivery report. No lock, no transaction and no thread is held
// from the charge to the report, so that any number of batches is under way at once.
//
// What is certainly not on the bus is given back; a crash, or a report that does not come, leaves
// the charge. A key is looked up before the charge, claimed behind it and settled by the report: a
// claim is always that of a message that was charged, so whoever takes over one that was left
// goes on with its id and charges nothing.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/log.h"
#include "runtime/batcher.h"
#include "runtime/metrics.h"
#include "service/gateway/send_path.h"
#include "service/gateway/send_tally.h"
#include "sink/message_bus.h"
#include "store/quota/cache_ports.h"
#include "store/quota/ports.h"

namespace penstock::service {

// All must outlive the path.
struct BusPorts {
  store::QuotaGate& gate;
  store::SendKeys& keys;
  sink::MessageBus& bus;
  const Clock& clock;
};

class BusPath final : public SendPath {
 public:
  // `key_live`: a claim of a key that is older belongs to no request; longer than the deadline of
  // the bus. All must outlive the path.
  BusPath(const SendPathOptions& options, Millis key_live, BusPorts ports, SendTally& tally,
          runtime::Histogram& batch_size, Log& log, runtime::Metrics& metrics);
  ~BusPath() override { stop(); }

  void send(std::vector<NewMessage> messages, Done done) override;
  // Waits for the reports of what is under way.
  void stop() override;
  std::size_t waiting() const override;

 private:
  // One request: answered when all of its messages are.
  struct Request;
  // A message on its way.
  struct Flight {
    std::shared_ptr<Request> request;
    std::size_t place = 0;  // in its request
    NewMessage message;
    std::int64_t window = 0;         // that it was charged to
    std::int64_t claim = 0;          // of its key
    bool retaken = false;            // it goes on with a claim, and a charge, of an earlier request
    std::vector<Flight> same_key{};  // of the same batch: they get the answer of this one
  };
  struct Landing {
    Flight flight;
    sink::BusOutcome outcome = sink::BusOutcome::delivered;
  };
  struct Nothing {};

  std::vector<Nothing> execute(std::span<Flight> batch);
  std::vector<Flight> join_same_keys(std::span<Flight> batch);
  // Each of these takes the flights that go on, and answers the others.
  std::vector<Flight> look_at_keys(std::vector<Flight>&& flights);
  std::vector<Flight> charge(std::vector<Flight>&& flights);
  std::vector<Flight> claim_keys(std::vector<Flight>&& flights);
  void publish(Flight&& flight);
  void land(Landing&& landing);
  std::vector<Nothing> settle(std::span<Landing> landings);
  void give_back(std::span<const store::GiveBack> charges);
  void finish(Flight&& flight, const Result<store::Sent>& answer);

  const Millis key_live_;
  const std::size_t under_way_max_;
  const BusPorts ports_;
  SendTally& tally_;
  runtime::Histogram& batch_size_;
  Log& log_;
  runtime::Counter& kept_;

  mutable std::mutex mutex_;
  std::condition_variable landed_;
  std::size_t under_way_ = 0;  // guarded by mutex_: taken and not answered
  bool stopping_ = false;      // guarded by mutex_

  runtime::Batcher<Landing, Nothing> settler_;
  runtime::Batcher<Flight, Nothing> charger_;  // last: their threads use all of the above
};

}  // namespace penstock::service
