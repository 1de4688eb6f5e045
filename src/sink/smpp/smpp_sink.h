// The sink itself: one thread, one connection at a time, and a mailbox that other threads write to.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "sink/sink.h"
#include "sink/smpp/smpp_client.h"

namespace penstock::sink {

class SmppMailbox;

class SmppSink final : public Sink {
 public:
  SmppSink(SmppClient& client, const SmppSettings& settings);
  ~SmppSink() override;  // unbinds

  void send(Handover&& item, Done done) override;

 private:
  class Line;

  SmppClient& client_;
  const std::shared_ptr<SmppMailbox> mailbox_;
  std::unique_ptr<Line> line_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace penstock::sink
