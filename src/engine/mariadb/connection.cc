#include "engine/mariadb/connection.h"

#include <mariadb/errmsg.h>
#include <mariadb/mysql.h>
#include <sys/socket.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "engine/mariadb/query.h"
#include "runtime/clocks.h"

namespace penstock::store::mariadb {
namespace {

// Once for the process; the library asks for it before the first thread uses it.
void start_library() {
  static std::once_flag once;
  std::call_once(once, [] { mysql_library_init(0, nullptr, nullptr); });
}

// Says goodbye to nobody: the farewell could block, and a server notices the end of the stream.
void close_handle(MYSQL* mysql) {
  const my_socket socket = mysql_get_socket(mysql);
  if (socket >= 0) ::shutdown(socket, SHUT_RDWR);
  mysql_close(mysql);
}

void set_options(MYSQL* mysql, const Address& address) {
  mysql_options(mysql, MYSQL_OPT_NONBLOCK, nullptr);
  mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  const unsigned protocol = MYSQL_PROTOCOL_TCP;
  mysql_options(mysql, MYSQL_OPT_PROTOCOL, &protocol);
  const unsigned no_files = 0;  // a server may otherwise ask for files of this machine
  mysql_options(mysql, MYSQL_OPT_LOCAL_INFILE, &no_files);
  mysql_options4(mysql, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name", "penstock");
  if (address.tls == TlsMode::disable) return;
  const my_bool yes = 1;
  mysql_options(mysql, MYSQL_OPT_SSL_ENFORCE, &yes);
  if (address.tls == TlsMode::verify_full) {
    mysql_options(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
  }
  const auto file = [&](mysql_option option, const std::string& path) {
    if (!path.empty()) mysql_options(mysql, option, path.c_str());
  };
  file(MYSQL_OPT_SSL_CA, address.root_certificate_file);
  file(MYSQL_OPT_SSL_CERT, address.certificate_file);
  file(MYSQL_OPT_SSL_KEY, address.key_file);
}

std::int64_t whole_seconds_of(Millis time) {
  return std::max<std::int64_t>(1, std::chrono::ceil<Seconds>(time).count());
}

}  // namespace

Connection::Connection(Handle handle) noexcept : handle_(std::move(handle)) {}
Connection::~Connection() = default;

DatabaseResult<std::unique_ptr<Connection>> Connection::open(const ConnectOptions& options,
                                                             const runtime::Deadline& deadline) {
  start_library();
  Handle handle(mysql_init(nullptr), close_handle);
  if (!handle) return std::unexpected(connection_lost("out of memory", false));
  set_options(handle.get(), options.address);
  std::unique_ptr<Connection> connection(new Connection(std::move(handle)));
  PENSTOCK_TRY(connection->connect(options, deadline));
  const double seconds = static_cast<double>(options.statement_timeout.count()) / 1000.0;
  const std::string settings[] = {call("isolation"),
                                  Query(statement("session"))
                                      .number(whole_seconds_of(options.statement_timeout))
                                      .seconds(seconds)
                                      .number(whole_seconds_of(options.idle_transaction_timeout))
                                      .text()};
  PENSTOCK_TRY(connection->run(settings, deadline));
  return connection;
}

DatabaseResult<void> Connection::connect(const ConnectOptions& options,
                                         const runtime::Deadline& deadline) {
  MYSQL* mysql = handle_.get();
  MYSQL* connected = nullptr;
  const Address& to = options.address;
  const int wants = mysql_real_connect_start(&connected, mysql, to.host.c_str(), to.user.c_str(),
                                             to.password.c_str(), to.database.c_str(), to.port,
                                             nullptr, CLIENT_MULTI_STATEMENTS);
  const bool in_time = drive(
      wants, [&](int got) { return mysql_real_connect_cont(&connected, mysql, got); }, deadline);
  if (!in_time) {
    broken_ = true;
    return std::unexpected(connection_lost("no answer to the connection request", false));
  }
  if (connected == nullptr) {
    broken_ = true;
    return std::unexpected(connection_lost(mysql_error(mysql), false));
  }
  return {};
}

int Connection::wait(int wants, const runtime::Deadline& deadline) {
  pollfd descriptor{.fd = mysql_get_socket(handle_.get()),
                    .events = static_cast<short>(((wants & MYSQL_WAIT_READ) != 0 ? POLLIN : 0) |
                                                 ((wants & MYSQL_WAIT_WRITE) != 0 ? POLLOUT : 0) |
                                                 ((wants & MYSQL_WAIT_EXCEPT) != 0 ? POLLPRI : 0)),
                    .revents = 0};
  if (!runtime::poll_until({&descriptor, 1}, deadline)) return MYSQL_WAIT_TIMEOUT;
  int got = 0;
  if ((descriptor.revents & (POLLIN | POLLHUP | POLLERR)) != 0) got |= MYSQL_WAIT_READ;
  if ((descriptor.revents & (POLLOUT | POLLHUP | POLLERR)) != 0) got |= MYSQL_WAIT_WRITE;
  if ((descriptor.revents & POLLPRI) != 0) got |= MYSQL_WAIT_EXCEPT;
  return got & wants;
}

bool Connection::drive(int wants, const std::function<int(int)>& go_on,
                       const runtime::Deadline& deadline) {
  bool in_time = true;
  while (wants != 0) {
    const int got = in_time ? wait(wants, deadline) : MYSQL_WAIT_TIMEOUT;
    if (got == MYSQL_WAIT_TIMEOUT && in_time) {
      // The operation runs on a stack of its own and has to come to its end there. From here on
      // every read and write of it fails.
      in_time = false;
      ::shutdown(mysql_get_socket(handle_.get()), SHUT_RDWR);
    }
    wants = go_on(got);
  }
  return in_time;
}

DatabaseError Connection::problem(bool sent) {
  const unsigned number = mysql_errno(handle_.get());
  const char* message = mysql_error(handle_.get());
  if (number != 0 && (number < CR_MIN_ERROR || number > CR_MAX_ERROR) &&
      (number < CER_MIN_ERROR || number > CER_MAX_ERROR)) {
    return translate(number, message);
  }
  broken_ = true;
  return connection_lost(message, sent);
}

DatabaseError Connection::too_late() {
  broken_ = true;
  return no_answer_in_time(kEngine);
}

bool Connection::still_open() {
  if (broken_) return false;
  pollfd descriptor{.fd = mysql_get_socket(handle_.get()), .events = POLLIN, .revents = 0};
  // A server says nothing unasked but goodbye.
  if (::poll(&descriptor, 1, 0) != 0) broken_ = true;
  return !broken_;
}

DatabaseResult<std::vector<Rows>> Connection::read_answers(std::size_t count,
                                                           const runtime::Deadline& deadline) {
  MYSQL* mysql = handle_.get();
  std::vector<Rows> answers;
  answers.reserve(count);
  for (;;) {
    MYSQL_RES* result = nullptr;
    const int wants = mysql_store_result_start(&result, mysql);
    const bool stored = drive(
        wants, [&](int got) { return mysql_store_result_cont(&result, mysql, got); }, deadline);
    if (!stored) {
      mysql_free_result(result);
      return std::unexpected(too_late());
    }
    if (result == nullptr && mysql_field_count(mysql) > 0) return std::unexpected(problem(true));
    answers.push_back(result == nullptr ? Rows() : Rows(result));
    if (!mysql_more_results(mysql)) return answers;
    int failed = 0;
    const int next = mysql_next_result_start(&failed, mysql);
    if (!drive(
            next, [&](int got) { return mysql_next_result_cont(&failed, mysql, got); }, deadline)) {
      return std::unexpected(too_late());
    }
    if (failed > 0) return std::unexpected(problem(true));
  }
}

DatabaseResult<std::vector<Rows>> Connection::run(std::span<const std::string> statements,
                                                  const runtime::Deadline& deadline) {
  if (broken_) return std::unexpected(connection_lost("the connection is closed", false));
  if (deadline.passed()) {
    return std::unexpected(DatabaseError{
        .error = {.kind = ErrorKind::timeout, .what = "no time is left to ask mariadb"}});
  }
  std::string all;
  for (const std::string& statement : statements) {
    if (!all.empty()) all += ';';
    all += statement;
  }
  MYSQL* mysql = handle_.get();
  int failed = 0;
  const int wants = mysql_real_query_start(&failed, mysql, all.data(), all.size());
  if (!drive(
          wants, [&](int got) { return mysql_real_query_cont(&failed, mysql, got); }, deadline)) {
    return std::unexpected(too_late());
  }
  if (failed != 0) return std::unexpected(problem(true));
  auto answers = read_answers(statements.size(), deadline);
  if (answers && answers->size() != statements.size()) {
    broken_ = true;  // not ours: a statement in a statement
    return std::unexpected(connection_lost("more answers than questions", true));
  }
  return answers;
}

DatabaseResult<Rows> Connection::run(std::string statement, const runtime::Deadline& deadline) {
  std::vector<Rows> answers = PENSTOCK_TRY(run({&statement, 1}, deadline));
  return std::move(answers.front());
}

}  // namespace penstock::store::mariadb
