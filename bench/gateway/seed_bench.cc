// The seed's two ways to send a message, as baselines, without the HTTP server that they also had:
// so many threads, each with a connection of its own to PostgreSQL (and to Redis), one producer.
//
//   0  publish and wait for the receipt: what any way costs that asks Kafka for each message
//   1  BEGIN; SELECT … FOR UPDATE; publish and wait for the receipt; UPDATE; COMMIT
//   2  HGETALL; DEL; HSET and EXPIRE; publish and wait for the receipt; UPDATE
//
// Usage: bench_gateway_seed PHASE PG_URL BROKERS REDIS_PORT USERS THREADS SECONDS
// Prints: sends a second, p50 and p99 in microseconds, and how many failed.
#include <fmt/format.h>
#include <libpq-fe.h>
#include <librdkafka/rdkafka.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using SteadyClock = std::chrono::steady_clock;

[[noreturn]] void give_up(std::string_view what) {
  fmt::print(stderr, "bench_gateway_seed: {}\n", what);
  std::exit(1);
}

class Database {
 public:
  explicit Database(const char* url) : connection_(PQconnectdb(url)) {
    if (PQstatus(connection_) != CONNECTION_OK) give_up(PQerrorMessage(connection_));
    prepare("lock", "SELECT rate_limit, used FROM seed_quota WHERE user_id = $1 FOR UPDATE");
    prepare("count", "UPDATE seed_quota SET used = used + 1 WHERE user_id = $1");
    prepare("put", "UPDATE seed_quota SET used = $2 WHERE user_id = $1");
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() { PQfinish(connection_); }

  void run(const char* sql) { check(PQexec(connection_, sql)); }
  void call(const char* name, const std::string& user, const std::string& more = {}) {
    const char* values[] = {user.c_str(), more.c_str()};
    check(PQexecPrepared(connection_, name, more.empty() ? 1 : 2, values, nullptr, nullptr, 0));
  }

 private:
  void prepare(const char* name, const char* sql) {
    check(PQprepare(connection_, name, sql, 0, nullptr));
  }
  void check(PGresult* result) {
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
      give_up(PQerrorMessage(connection_));
    }
    PQclear(result);
  }
  PGconn* const connection_;
};

// Of Redis only what is needed here: commands of short words, and an end of the answer to look for.
class Cache {
 public:
  explicit Cache(int port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      give_up("no Redis");
    }
  }
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;
  ~Cache() { close(socket_); }

  // The lines of the answer: one, or those of an array of bulk strings.
  std::vector<std::string> call(const std::vector<std::string>& words) {
    std::string out = fmt::format("*{}\r\n", words.size());
    for (const std::string& word : words) {
      fmt::format_to(std::back_inserter(out), "${}\r\n{}\r\n", word.size(), word);
    }
    if (write(socket_, out.data(), out.size()) != static_cast<ssize_t>(out.size())) {
      give_up("Redis is gone");
    }
    std::vector<std::string> lines = {line()};
    if (lines[0].starts_with("*")) {
      for (int left = 2 * std::atoi(lines[0].c_str() + 1); left > 0; --left)
        lines.push_back(line());
    }
    return lines;
  }

 private:
  std::string line() {
    std::size_t end = 0;
    while ((end = read_.find("\r\n")) == std::string::npos) {
      char buffer[4096];
      const ssize_t size = read(socket_, buffer, sizeof buffer);
      if (size <= 0) give_up("Redis is gone");
      read_.append(buffer, static_cast<std::size_t>(size));
    }
    std::string out = read_.substr(0, end);
    read_.erase(0, end + 2);
    return out;
  }
  const int socket_;
  std::string read_;
};

class Topic {
 public:
  explicit Topic(const char* brokers) {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    char why[512];
    for (const auto& [name, value] :
         {std::pair("bootstrap.servers", brokers), std::pair("enable.idempotence", "true"),
          // As the client of the seed: what comes is sent at once.
          std::pair("linger.ms", "0")}) {
      if (rd_kafka_conf_set(conf, name, value, why, sizeof why) != RD_KAFKA_CONF_OK) give_up(why);
    }
    rd_kafka_conf_set_dr_msg_cb(conf, [](rd_kafka_t*, const rd_kafka_message_t* message, void*) {
      static_cast<std::promise<bool>*>(message->_private)->set_value(message->err == 0);
    });
    handle_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
    if (handle_ == nullptr) give_up(why);
    topic_ = rd_kafka_topic_new(handle_, "seed-outbound", nullptr);
    poller_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) rd_kafka_poll(handle_, 100);
    });
  }
  Topic(const Topic&) = delete;
  Topic& operator=(const Topic&) = delete;
  ~Topic() {
    poller_ = {};
    rd_kafka_topic_destroy(topic_);
    rd_kafka_destroy(handle_);
  }

  bool publish(const std::string& user, std::string value) {
    std::promise<bool> told;
    if (rd_kafka_produce(topic_, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY, value.data(),
                         value.size(), user.data(), user.size(), &told) != 0) {
      return false;
    }
    return told.get_future().get();
  }

 private:
  rd_kafka_t* handle_ = nullptr;
  rd_kafka_topic_t* topic_ = nullptr;
  std::jthread poller_;
};

struct Options {
  int phase = 1;
  const char* postgres = nullptr;
  const char* brokers = nullptr;
  int redis_port = 0;
  int users = 1;
  int threads = 64;
  int seconds = 5;
};

class Sender {
 public:
  Sender(const Options& options, Topic& topic)
      : database_(options.postgres), topic_(topic), phase_(options.phase) {
    if (phase_ == 2) cache_ = std::make_unique<Cache>(options.redis_port);
  }

  bool send(int number) {
    const std::string user = std::to_string(number);
    switch (phase_) {
      case 0:
        return publish(user);
      case 1:
        return first(user);
      default:
        return second(user);
    }
  }

 private:
  bool first(const std::string& user) {
    database_.run("BEGIN");
    database_.call("lock", user);
    const bool done = publish(user);
    database_.call("count", user);
    database_.run(done ? "COMMIT" : "ROLLBACK");
    return done;
  }

  bool second(const std::string& user) {
    const std::string key = "RateLimiterCache:" + user;
    const std::vector<std::string> entry = cache_->call({"HGETALL", key});
    // "*4", "$12", "currentCount", "$1", "5", …: the second value.
    const long count = entry.size() > 4 ? std::atol(entry[4].c_str()) : 0;
    const std::string next = std::to_string(count + 1);
    cache_->call({"DEL", key});
    cache_->call({"HSET", key, "currentCount", next, "rateLimit", "2000000000"});
    cache_->call({"EXPIRE", key, "3600"});
    const bool done = publish(user);
    database_.call("put", user, next);
    return done;
  }

  bool publish(const std::string& user) {
    return topic_.publish(user, user + ": Your code is 000000. It is good for ten minutes.");
  }

  Database database_;
  std::unique_ptr<Cache> cache_;
  Topic& topic_;
  const int phase_;
};

void make_table(const Options& options) {
  const std::unique_ptr<PGconn, void (*)(PGconn*)> setup(PQconnectdb(options.postgres), PQfinish);
  const std::string sql = fmt::format(
      "CREATE TABLE IF NOT EXISTS seed_quota (user_id integer PRIMARY KEY, rate_limit bigint,"
      " window_min bigint, used bigint, refreshed timestamptz);"
      "INSERT INTO seed_quota SELECT n, 2000000000, 60, 0, now() FROM generate_series(1, {}) n"
      " ON CONFLICT DO NOTHING",
      options.users);
  PQclear(PQexec(setup.get(), "SET client_min_messages = error"));
  PGresult* const made = PQexec(setup.get(), sql.c_str());
  if (PQresultStatus(made) != PGRES_COMMAND_OK) give_up(PQerrorMessage(setup.get()));
  PQclear(made);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) give_up("PHASE PG_URL BROKERS REDIS_PORT USERS THREADS SECONDS");
  const Options options{.phase = std::atoi(argv[1]),
                        .postgres = argv[2],
                        .brokers = argv[3],
                        .redis_port = std::atoi(argv[4]),
                        .users = std::atoi(argv[5]),
                        .threads = std::atoi(argv[6]),
                        .seconds = std::atoi(argv[7])};
  make_table(options);
  Topic topic(options.brokers);
  if (!topic.publish("0", "0: warm")) give_up("no Kafka");
  std::vector<std::vector<double>> micros(static_cast<std::size_t>(options.threads));
  std::atomic<int> failed{0};
  std::vector<std::unique_ptr<Sender>> senders;
  for (int i = 0; i < options.threads; ++i) {
    senders.push_back(std::make_unique<Sender>(options, topic));
  }
  const auto start = SteadyClock::now();
  const auto end = start + std::chrono::seconds(options.seconds);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < senders.size(); ++i) {
      threads.emplace_back([&, i] {
        std::minstd_rand chance(static_cast<unsigned>(i + 1));
        for (auto begin = SteadyClock::now(); begin < end;) {
          const int user = 1 + static_cast<int>(chance() % static_cast<unsigned>(options.users));
          if (!senders[i]->send(user)) ++failed;
          const auto now = SteadyClock::now();
          micros[i].push_back(std::chrono::duration<double, std::micro>(now - begin).count());
          begin = now;
        }
      });
    }
  }
  const double took = std::chrono::duration<double>(SteadyClock::now() - start).count();
  std::vector<double> all;
  for (const auto& each : micros) all.insert(all.end(), each.begin(), each.end());
  if (all.empty()) give_up("nothing was sent");
  std::ranges::sort(all);
  fmt::print("{:.1f} {:.0f} {:.0f} {}\n", static_cast<double>(all.size()) / took,
             all[all.size() / 2], all[all.size() * 99 / 100], failed.load());
}
