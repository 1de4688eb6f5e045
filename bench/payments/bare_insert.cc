// The limit that the intake of payments is held against: the very rows that it writes, into the
// same tables with the same indexes, by bare prepared multi-row INSERTs (unnest of arrays), one
// transaction for so many payments, on so many connections. Rows are made before the clock starts,
// and stand in the order of their ids in each transaction, as Penstock's do: that is kinder to the
// indexes. Usage: bench_payments SQL_FOLDER URL FILE CONNECTIONS SIZE; FILE holds payments, one
// JSON each line. Prints payments a second.
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../postgres/workload.h"
#include "wire/json.h"
#include "wire/payments.h"

namespace penstock::bench {
namespace {

constexpr Instant kReceived{Millis{kStartMs}};

struct File {
  explicit File(const std::string& path) : name(path), text(read_file(path)) {}
  std::string name, text;
  const SqlFile sql{name.c_str(), text.c_str()};
};

// What one transaction writes.
struct Batch {
  void add(const core::PaymentCall& call) {
    ids.push_back(call.id.str());
    scheduled.push_back(call.execution.time_since_epoch().count());
    digests.emplace_back(reinterpret_cast<const char*>(call.digest.data()), call.digest.size());
    bodies.push_back(wire::encode_payment_body(call));
    contexts.push_back(wire::encode_payment_context(call, kReceived));
  }
  std::vector<std::string> ids, digests, bodies, contexts;
  std::vector<std::int64_t> scheduled;
};

std::vector<Batch> read_batches(const std::string& path, std::size_t size) {
  std::vector<Batch> batches;
  std::vector<core::PaymentCall> calls;
  const auto close = [&] {
    std::ranges::sort(calls, {}, [](const core::PaymentCall& call) { return call.id.str(); });
    Batch& batch = batches.emplace_back();
    for (const core::PaymentCall& call : calls) batch.add(call);
    calls.clear();
  };
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    const auto document = must(wire::parse_json(line));
    calls.push_back(must(wire::decode_payment_call(document.root(), 65'536)));
    if (calls.size() == size) close();
  }
  if (!calls.empty()) close();
  if (batches.empty()) stop("there are no payments in " + path);
  return batches;
}

class BareInsert {
 public:
  BareInsert(const std::string& folder, const std::string& url, std::size_t connections)
      : payment_(folder + "/insert_payment.sql"),
        item_(folder + "/insert_item.sql"),
        queue_(folder + "/insert_queue.sql"),
        change_(folder + "/insert_change.sql") {
    for (std::size_t i = 0; i < connections; ++i) {
      connections_.push_back(
          must(Connection::open({.url = url, .statement_timeout = Seconds{600}}, kPatient)));
    }
  }

  void insert(std::size_t thread, std::size_t number, const Batch& batch) {
    const auto first = static_cast<std::int64_t>((number + 1) << 20);
    const std::int64_t now = kStartMs * 1'000;
    const auto views = [](const std::vector<std::string>& texts) {
      return std::vector<std::string_view>(texts.begin(), texts.end());
    };
    const auto ids = views(batch.ids), digests = views(batch.digests);
    const Call calls[] = {
        {.sql = payment_.sql,
         .params = Params()
                       .int8(first)
                       .int8(now)
                       .texts(ids)
                       .int8s(batch.scheduled)
                       .byteas(digests)
                       .byteas(views(batch.bodies)),
         .commit = false},
        {.sql = item_.sql,
         .params = Params()
                       .int8(first)
                       .int8(now)
                       .texts(ids)
                       .int8s(batch.scheduled)
                       .byteas(digests)
                       .byteas(views(batch.contexts)),
         .commit = false},
        {.sql = queue_.sql,
         .params = Params().int8(first).texts(ids).int8s(batch.scheduled),
         .commit = false},
        {.sql = change_.sql, .params = Params().int4(static_cast<std::int32_t>(ids.size()))}};
    must(connections_[thread]->run(calls, kPatient));
  }

 private:
  const File payment_, item_, queue_, change_;
  std::vector<std::unique_ptr<Connection>> connections_;
};

int run(const std::string& folder, const std::string& url, const std::string& path,
        std::size_t connections, std::size_t size) {
  const std::vector<Batch> batches = read_batches(path, size);
  std::size_t payments = 0;
  for (const Batch& batch : batches) payments += batch.ids.size();
  BareInsert bare(folder, url, connections);
  std::atomic<std::size_t> next{0};
  const double per_second = rate(connections, batches.size(), [&](std::size_t thread) {
    const std::size_t number = next++;
    bare.insert(thread, number, batches[number]);
  });
  std::printf("%.1f\n",
              per_second * static_cast<double>(payments) / static_cast<double>(batches.size()));
  return 0;
}

}  // namespace
}  // namespace penstock::bench

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: bench_payments SQL_FOLDER URL FILE CONNECTIONS SIZE\n");
    return 2;
  }
  return penstock::bench::run(argv[1], argv[2], argv[3],
                              static_cast<std::size_t>(std::atoi(argv[4])),
                              static_cast<std::size_t>(std::atoi(argv[5])));
}
