// One client's conversation: bytes in, bytes out, and whether to hang up. Knows no socket and no
// clock. One thread, whose ThrottleBatch it uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "front/resp/state.h"
#include "front/resp/throttle_batch.h"
#include "wire/ip_address.h"
#include "wire/resp_request.h"
#include "wire/resp_writer.h"

namespace penstock::front {

class RespSession {
 public:
  struct Turn {
    std::size_t consumed = 0;
    bool full = false;     // stopped because `out` has enough: there may be more requests in `in`
    bool close = false;    // hang up once all is sent
    bool open = false;     // nothing was appended yet: its calls are in the batch, for leave()
    std::size_t from = 0;  // where its replies begin in `out`, behind those of others
  };

  // `state` must outlive this.
  RespSession(RespState& state, std::uint64_t id, const wire::IpAddress& peer);

  // Takes whole requests off the front of `in` and appends their replies to `out`, until the input
  // ends or `out` has kReplyBytes. What is not consumed comes again, with more behind it. The
  // batch may hold calls that others left; they are settled when this one cannot wait.
  Turn handle(std::string_view in, ThrottleBatch& batch, std::string& out);

  // What MULTI keeps for EXEC, in memory.
  std::size_t queued_bytes() const noexcept {
    return transaction_ == nullptr ? 0 : transaction_->bytes;
  }
  // The client is gone.
  void forget() noexcept { transaction_.reset(); }

  // Enough for a write to be worth a system call, and what bounds a client that does not read.
  static constexpr std::size_t kReplyBytes = 64 * 1024;

 private:
  using Arguments = std::span<const std::string_view>;
  struct Command;
  // Between MULTI and EXEC.
  struct Transaction {
    // As requests of the protocol, in blocks of whole ones: a single string would be copied, and
    // leave holes in the memory, each time it doubles.
    std::vector<std::string> calls;
    std::size_t bytes = 0;  // of memory for them
    std::size_t count = 0;
    std::size_t verbose_count = 0;  // of these
    bool broken = false;            // by a request that cannot be run: EXEC will run none
  };

  // Leaves a call in the batch, or has it settled and answers.
  template <class Settle>
  void answer(Arguments arguments, ThrottleBatch& batch, std::string& out, Settle settle);
  // The calls of the transaction, behind the header that EXEC wrote. The batch is settled.
  void execute(ThrottleBatch& batch, std::string& out);

  // session_commands.cc
  static std::span<const Command> commands() noexcept;
  static const Command* find(std::string_view name) noexcept;
  void run(Arguments arguments, std::string& out);
  void hang_up_on_http();
  void ping(Arguments arguments, wire::RespWriter& out);
  void echo(Arguments arguments, wire::RespWriter& out);
  void del(Arguments arguments, wire::RespWriter& out);
  void quit(Arguments arguments, wire::RespWriter& out);
  void reset(Arguments arguments, wire::RespWriter& out);
  void select(Arguments arguments, wire::RespWriter& out);
  void auth(Arguments arguments, wire::RespWriter& out);
  void hello(Arguments arguments, wire::RespWriter& out);
  void throttle(Arguments, wire::RespWriter&) {}  // answer() sees to it
  bool set_name(std::string_view name, wire::RespWriter& out);
  bool log_in(std::string_view user, std::string_view password, wire::RespWriter& out);

  // session_about.cc
  void client(Arguments arguments, wire::RespWriter& out);
  void client_id(Arguments arguments, wire::RespWriter& out);
  void client_getname(Arguments arguments, wire::RespWriter& out);
  void client_setname(Arguments arguments, wire::RespWriter& out);
  void client_setinfo(Arguments arguments, wire::RespWriter& out);
  void client_switch(Arguments arguments, wire::RespWriter& out);
  void client_info(Arguments arguments, wire::RespWriter& out);
  void command(Arguments arguments, wire::RespWriter& out);
  void config(Arguments arguments, wire::RespWriter& out);
  void info(Arguments arguments, wire::RespWriter& out);

  // session.cc
  void multi(Arguments arguments, wire::RespWriter& out);
  void discard(Arguments arguments, wire::RespWriter& out);
  void exec(Arguments arguments, wire::RespWriter& out);  // its header; handle() sees to the rest
  void queue(Arguments arguments, bool verbose, wire::RespWriter& out);
  static std::string& room_for(Transaction& queued, std::size_t needed);
  void break_transaction() noexcept;

  RespState& state_;
  const std::uint64_t id_;
  const wire::IpAddress peer_;
  wire::RespRequestParser parser_;
  wire::RespVersion version_ = wire::RespVersion::v2;
  bool trusted_;  // said the password, or none is asked for
  bool quits_ = false;
  bool executes_ = false;  // EXEC has said how many replies follow
  std::string name_;
  std::unique_ptr<Transaction> transaction_;
};

}  // namespace penstock::front
