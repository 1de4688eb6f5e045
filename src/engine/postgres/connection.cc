#include "engine/postgres/connection.h"

#include <libpq-fe.h>
#include <poll.h>

#include <array>
#include <utility>

#include "runtime/clocks.h"

namespace penstock::store::postgres {
namespace {

using ResultHandle = std::unique_ptr<PGresult, void (*)(PGresult*)>;

DatabaseError error_of(const PGresult* result) {
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  return translate(state != nullptr ? state : "",
                   text != nullptr ? text : PQresultErrorMessage(result));
}

}  // namespace

Connection::Connection(Handle handle) noexcept : handle_(std::move(handle)) {}
Connection::~Connection() = default;

DatabaseResult<std::unique_ptr<Connection>> Connection::open(const ConnectOptions& options,
                                                             const runtime::Deadline& deadline) {
  // Later entries win: what stands before "dbname" is a default, what stands behind it is forced.
  // A peer that vanished without a word is noticed by keep-alives within 15 s even when idle.
  std::vector<const char*> names = {"fallback_application_name", "keepalives_idle",
                                    "keepalives_interval", "keepalives_count", "dbname"};
  std::vector<const char*> values = {options.application_name.c_str(), "5", "5", "2",
                                     options.url.c_str()};
  if (!options.password.empty()) {
    names.push_back("password");
    values.push_back(options.password.c_str());
  }
  names.push_back(nullptr);
  values.push_back(nullptr);
  Handle handle(PQconnectStartParams(names.data(), values.data(), /*expand_dbname=*/1), PQfinish);
  if (!handle) return std::unexpected(connection_lost("out of memory", false));
  std::unique_ptr<Connection> connection(new Connection(std::move(handle)));
  PENSTOCK_TRY(connection->connect(deadline));
  const std::string settings =
      "SET statement_timeout = " + std::to_string(options.statement_timeout.count()) +
      "; SET lock_timeout = " + std::to_string(options.lock_timeout.count()) +
      "; SET idle_in_transaction_session_timeout = " +
      std::to_string(options.idle_transaction_timeout.count()) +
      (options.durable ? "" : "; SET synchronous_commit = off") +
      "; SET client_min_messages = warning; SET search_path = penstock"
      // Our statements are written for their index; statistics of a young table must not argue.
      "; SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off";
  PENSTOCK_TRY(connection->script(settings, deadline));
  return connection;
}

DatabaseResult<void> Connection::connect(const runtime::Deadline& deadline) {
  PGconn* conn = handle_.get();
  if (PQstatus(conn) == CONNECTION_BAD) return std::unexpected(lost(false));
  PostgresPollingStatusType state = PGRES_POLLING_WRITING;
  while (state != PGRES_POLLING_OK) {
    if (state == PGRES_POLLING_FAILED) return std::unexpected(lost(false));
    pollfd descriptor{
        .fd = PQsocket(conn),
        .events = static_cast<short>(state == PGRES_POLLING_READING ? POLLIN : POLLOUT),
        .revents = 0};
    if (!runtime::poll_until({&descriptor, 1}, deadline)) {
      broken_ = true;
      return std::unexpected(connection_lost("no answer to the connection request", false));
    }
    state = PQconnectPoll(conn);
  }
  PQsetnonblocking(conn, 1);
  PQsetNoticeProcessor(conn, [](void*, const char*) {}, nullptr);
  return {};
}

DatabaseError Connection::lost(bool sent) {
  broken_ = true;
  return connection_lost(PQerrorMessage(handle_.get()), sent);
}

DatabaseError Connection::too_late() {
  broken_ = true;
  return no_answer_in_time(kEngine);
}

bool Connection::still_open() {
  if (broken_) return false;
  pollfd descriptor{.fd = PQsocket(handle_.get()), .events = POLLIN, .revents = 0};
  if (::poll(&descriptor, 1, 0) == 0) return true;
  // Something arrived while nobody asked: a farewell, or a notice.
  if (PQconsumeInput(handle_.get()) == 0 || PQstatus(handle_.get()) != CONNECTION_OK) {
    broken_ = true;
    return false;
  }
  // libpq reads the end of the stream only with the next call; ask the socket.
  if (::poll(&descriptor, 1, 0) > 0 && PQconsumeInput(handle_.get()) == 0) broken_ = true;
  return !broken_;
}

int Connection::server_version() const noexcept { return PQserverVersion(handle_.get()); }

DatabaseResult<void> Connection::wait(bool for_write, const runtime::Deadline& deadline) {
  pollfd descriptor{.fd = PQsocket(handle_.get()),
                    .events = static_cast<short>(POLLIN | (for_write ? POLLOUT : 0)),
                    .revents = 0};
  if (!runtime::poll_until({&descriptor, 1}, deadline)) return std::unexpected(too_late());
  return {};
}

DatabaseResult<pg_result*> Connection::next_result(const runtime::Deadline& deadline) {
  PGconn* conn = handle_.get();
  for (;;) {
    // Keep writing while reading, or both sides could wait for each other.
    const int unsent = PQflush(conn);
    if (unsent < 0) return std::unexpected(lost(true));
    if (PQisBusy(conn) == 0) return PQgetResult(conn);
    PENSTOCK_TRY(wait(unsent > 0, deadline));
    if (PQconsumeInput(conn) == 0) return std::unexpected(lost(true));
  }
}

DatabaseResult<void> Connection::prepare_if_new(const SqlFile& sql) {
  if (prepared_.contains(sql.name)) return {};
  if (PQsendPrepare(handle_.get(), sql.name, sql.text, 0, nullptr) == 0) {
    return std::unexpected(lost(false));
  }
  return {};
}

DatabaseResult<void> Connection::send(const Call& call) {
  const std::vector<const char*> values = call.params.values();
  const std::vector<int> formats = call.params.formats();
  if (PQsendQueryPrepared(handle_.get(), call.sql.name, call.params.size(), values.data(),
                          call.params.lengths().data(), formats.data(), /*resultFormat=*/1) == 0) {
    return std::unexpected(lost(false));
  }
  if (call.commit && PQpipelineSync(handle_.get()) == 0) return std::unexpected(lost(false));
  return {};
}

// Reads all results of one statement. An error of the server goes to `failed`, the first one only;
// what is returned as an error means that the connection is gone.
DatabaseResult<Rows> Connection::read_answer(const runtime::Deadline& deadline,
                                             std::optional<DatabaseError>& failed) {
  Rows rows;
  for (;;) {
    auto next = next_result(deadline);
    if (!next) {
      // The server may have said why it hangs up before it did.
      if (failed && broken_) return std::unexpected(*failed);
      return std::unexpected(std::move(next.error()));
    }
    if (*next == nullptr) break;
    ResultHandle result(*next, PQclear);
    switch (PQresultStatus(result.get())) {
      case PGRES_TUPLES_OK:
        rows = Rows(result.release());
        break;
      case PGRES_COMMAND_OK:
      case PGRES_EMPTY_QUERY:
        break;
      case PGRES_PIPELINE_SYNC:
        return rows;
      case PGRES_PIPELINE_ABORTED:  // an earlier statement of the transaction failed
        if (!failed) failed = translate("", "an earlier statement failed");
        break;
      default:
        if (!failed) failed = error_of(result.get());
        if (PQstatus(handle_.get()) != CONNECTION_OK) {
          broken_ = true;
          if (failed->code.empty()) failed = connection_lost(failed->error.what, true);
          return std::unexpected(*failed);
        }
    }
  }
  return rows;
}

DatabaseResult<std::vector<Rows>> Connection::run(std::span<const Call> calls,
                                                  const runtime::Deadline& deadline) {
  if (broken_) return std::unexpected(connection_lost("the connection is closed", false));
  if (PQenterPipelineMode(handle_.get()) == 0) return std::unexpected(lost(false));
  std::vector<bool> prepares;
  for (const Call& call : calls) {
    prepares.push_back(!prepared_.contains(call.sql.name));
    PENSTOCK_TRY(prepare_if_new(call.sql));
    prepared_.insert(call.sql.name);
    PENSTOCK_TRY(send(call));
  }
  std::vector<Rows> answers;
  std::optional<DatabaseError> failed;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (prepares[i]) {
      std::optional<DatabaseError> refused;
      PENSTOCK_TRY(read_answer(deadline, refused));
      if (refused) {
        prepared_.erase(calls[i].sql.name);
        if (!failed) failed = std::move(refused);
      }
    }
    Rows answer = PENSTOCK_TRY(read_answer(deadline, failed));
    answers.push_back(std::move(answer));
    if (!calls[i].commit) continue;
    PENSTOCK_TRY(read_answer(deadline, failed));
  }
  if (failed) return std::unexpected(std::move(*failed));
  return answers;
}

DatabaseResult<Rows> Connection::run(const Call& call, const runtime::Deadline& deadline) {
  std::vector<Rows> answers = PENSTOCK_TRY(run(std::span(&call, 1), deadline));
  return std::move(answers.front());
}

DatabaseResult<void> Connection::script(const std::string& sql, const runtime::Deadline& deadline) {
  if (broken_) return std::unexpected(connection_lost("the connection is closed", false));
  if (PQpipelineStatus(handle_.get()) != PQ_PIPELINE_OFF &&
      PQexitPipelineMode(handle_.get()) == 0) {
    return std::unexpected(lost(false));
  }
  if (PQsendQuery(handle_.get(), sql.c_str()) == 0) return std::unexpected(lost(false));
  std::optional<DatabaseError> failed;
  PENSTOCK_TRY(read_answer(deadline, failed));
  if (failed) return std::unexpected(std::move(*failed));
  return {};
}

DatabaseResult<std::optional<Notification>> Connection::notification(
    int wake_fd, const runtime::Deadline& deadline) {
  const auto next = [&]() -> std::optional<Notification> {
    const std::unique_ptr<PGnotify, void (*)(void*)> notify(PQnotifies(handle_.get()), PQfreemem);
    if (!notify) return std::nullopt;
    return Notification{.channel = notify->relname, .payload = notify->extra};
  };
  if (auto waiting = next()) return waiting;
  std::array<pollfd, 2> descriptors{
      pollfd{.fd = PQsocket(handle_.get()), .events = POLLIN, .revents = 0},
      pollfd{.fd = wake_fd, .events = POLLIN, .revents = 0}};
  if (!runtime::poll_until(descriptors, deadline)) return std::nullopt;
  if (descriptors[0].revents == 0) return std::nullopt;
  if (PQconsumeInput(handle_.get()) == 0) return std::unexpected(lost(false));
  return next();
}

}  // namespace penstock::store::postgres
