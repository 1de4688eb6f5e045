// One HTTP sink as the event loop sees it: hand-overs under way and waiting, connections at rest,
// deadlines, and the addresses of its host. send() is for any thread, close() for any but the
// loop's; all the rest happens on the loop's thread. Handlers on their way keep it alive.
#pragma once

#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/time.h"
#include "sink/http/asio.h"
#include "sink/http/loop.h"
#include "sink/http/request.h"
#include "sink/sink.h"
#include "wire/http_url.h"

namespace penstock::sink {

class Connection;

// One hand-over under way.
struct Call {
  Handover item;
  Sink::Done done;
  Micros deadline{0};                      // on the loop's steady time
  Micros send_by = Micros::max();          // the same; later it is not sent at all
  bool repeated = false;                   // its connection turned out to be dead already
  std::shared_ptr<Connection> connection;  // null while it waits for one
};
using CallList = std::list<Call>;  // moves between lists without being copied
using CallRef = CallList::iterator;

class Channel : public std::enable_shared_from_this<Channel> {
 public:
  // `loop` must outlive the channel's close().
  Channel(Loop& loop, wire::HttpUrl url, const HttpSettings& settings, WebhookSigner signer);

  void send(Handover&& item, Sink::Done&& done);
  // Answers everything as failed and returns when nothing is under way any more.
  void close();

  // For connections.
  Loop& loop() noexcept { return loop_; }
  const wire::HttpUrl& url() const noexcept { return url_; }
  RequestWriter& writer() noexcept { return writer_; }
  // Calls connection.connect_to() or connection.fail(), at once or later.
  void find_addresses(const std::shared_ptr<Connection>& connection);
  // This one took a connection, so it is tried first from now on; or none of them did.
  void on_connected(const Tcp::endpoint& address);
  void on_unreachable() { addresses_.clear(); }
  // The call is over; the connection is free for another, or gone.
  void finish(CallRef call, SinkAnswer&& answer, Connection* reusable);
  // Nothing of the call reached the peer: it goes again, on a new connection. The old one is gone.
  void repeat(CallRef call);
  // Its turn has passed, and nothing was written: the connection is free, then the item goes back.
  void give_back(CallRef call);
  // A connection at rest was closed by the peer.
  void on_idle_closed(const Connection& connection);

 private:
  void drain();
  void start(CallRef call);
  void start_on_new_connection(CallRef call);
  void release(Connection& connection);
  void start_waiting();
  void free_late();
  void answer(CallRef call, SinkAnswer&& answer);
  void expire(CallRef call);
  void wake_at(Micros at);
  void on_time();
  void close_on_loop();

  Loop& loop_;
  const wire::HttpUrl url_;
  const Millis timeout_;
  const std::size_t connections_max_;
  RequestWriter writer_;

  std::mutex mutex_;
  CallList inbox_;       // guarded by mutex_
  bool closed_ = false;  // guarded by mutex_

  // The loop's.
  CallList calls_;               // in the order of their deadlines: all have one time-out
  std::deque<CallRef> waiting_;  // of calls_, for a connection; the oldest first
  CallList late_;                // still with their connections; one free_late() for each
  std::size_t connections_ = 0;
  std::vector<std::shared_ptr<Connection>> idle_;  // the one that rests longest first
  Timer timer_;
  Micros wake_at_ = Micros::max();  // max = the timer is off

  Loop::Addresses addresses_;  // empty = not known
  Micros addresses_until_{0};
  bool resolving_ = false;
  std::vector<std::shared_ptr<Connection>> want_addresses_;
};

}  // namespace penstock::sink
