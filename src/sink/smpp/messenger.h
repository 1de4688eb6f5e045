// The messages of one SMPP sink: cuts each into its parts, sends them through the session as its
// window allows, and answers when all were taken or one was not. Knows no socket, clock or thread;
// lives on the sink's thread.
//
// Parts that a provider took are remembered for a while when others of the same message were not,
// so that the next attempt sends only those: a phone that was sent a part twice may show it twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "sink/sink.h"
#include "sink/smpp/session.h"
#include "sink/smpp/smpp_client.h"

namespace penstock::sink {

// What a message is sent to and in which parts.
struct SmppParts {
  wire::SmppAddress destination;
  std::uint8_t data_coding = 0;
  std::uint8_t esm_class = 0;
  std::vector<std::string> texts;  // with their headers, when there are several
};

// Of the context of an item: {message, to? | userId}. The number that joins the parts comes from
// the item's id, so that a message that is sent again is the same to a phone.
Result<SmppParts> smpp_parts_of(std::string_view context, const ItemId& id);

// What a status of SMPP means for the item; the one table from statuses to outcomes. Throttled, or
// a full queue: slow down. What is wrong with the message or its addresses refuses it; anything
// else may work another time.
SinkAnswer judge_status(std::uint32_t status);

class SmppMessenger {
 public:
  // All parts were taken under these references; the answer is to be given by whoever is told.
  using Taken =
      std::function<void(const ItemId& id, std::vector<std::string> references, Sink::Done done)>;
  using Count = std::function<void(SinkOutcome outcome)>;  // of every submit that was answered

  SmppMessenger(const SmppSettings& settings, Taken taken, Count count);

  // Takes a hand-over, or answers at once what cannot be sent.
  void add(Handover&& item, Sink::Done&& done, Micros now);

  // Sends what there is room for.
  void pump(SmppSession& session, Micros now);
  void take_answers(SmppSession& session, Micros now);
  // `session` may be null: there is none.
  void on_time(SmppSession* session, Micros now);
  Micros wake_at() const noexcept;

  // The session is over: what was submitted and not answered fails, the rest waits or, with
  // `pause`, is told to come back.
  void on_lost(const std::string& why, std::optional<Millis> pause);
  // Answers everything.
  void close();

  std::size_t size() const noexcept { return calls_.size(); }

 private:
  struct Call {
    Handover item;
    Sink::Done done;
    Micros deadline{0};
    Micros send_by = Micros::max();
    SmppParts parts;
    std::vector<std::optional<std::string>> references;  // of the parts that were taken
    std::size_t next = 0;                                // part to be sent
    std::size_t in_flight = 0;
    bool begun = false;  // something of it was sent
    std::optional<SinkAnswer> verdict;
  };
  using CallRef = std::list<Call>::iterator;
  struct Submit {
    CallRef call;
    std::size_t part;
  };

  bool has_more(const Call& call) const noexcept;
  void conclude(CallRef call);
  void answer(CallRef call, SinkAnswer&& answer);
  void remember(const Call& call);

  const SmppSettings settings_;
  const wire::SmppAddress source_;
  const Taken taken_;
  const Count count_;
  std::list<Call> calls_;  // in the order of their deadlines: all have one time-out
  std::unordered_map<SmppSession::Ticket, Submit> submits_;
  SmppSession::Ticket last_ticket_ = 0;
  // Of messages that were taken in part.
  std::map<ItemId, std::vector<std::optional<std::string>>> partly_;
};

}  // namespace penstock::sink
