// The queue on PostgreSQL: how fast items come in and are dispatched, against a bare INSERT and
// against a loop of bare SQL on a narrow table; behind a crowd of items that are due later, and
// with a snapshot held. Prints figures, then `ratio NAME VALUE goal VALUE`, higher is better.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../postgres/workload.h"

namespace penstock::bench {
namespace {

using store::NewItem;
using store::postgres::ServerProcess;

constexpr std::size_t kItems = 500;  // in one claim, one settlement, one batch that comes in
constexpr std::size_t kContextBytes = 300;
constexpr std::size_t kDispatchers = 2;     // each has a type of its own, as leases have it
constexpr std::size_t kFill = 80 * kItems;  // what each of them drains in a round
constexpr std::int64_t kDueUs = kStartMs * 1'000;

std::string type_name(std::size_t number) { return "TYPE" + std::to_string(number); }

// Items that are due one after the other, with ids that land all over the index.
class Items {
 public:
  std::vector<NewItem> batch(std::size_t type) {
    std::vector<NewItem> items(kItems);
    std::uint64_t number = next_.fetch_add(kItems);
    for (NewItem& item : items) {
      item.type = ItemType::trusted(type_name(type));
      item.id = ItemId::trusted(event_id(number));
      item.due = from_epoch_millis(kStartMs + static_cast<std::int64_t>(number));
      item.context = context_;
      ++number;
    }
    return items;
  }

 private:
  const std::string context_ = "{\"text\":\"" + std::string(kContextBytes - 11, 'x') + "\"}";
  std::atomic<std::uint64_t> next_{1};
};

constexpr Instant kLater = from_epoch_millis(kStartMs + std::int64_t{1'000'000'000});

class Bare {
 public:
  Bare(const Database& database, const std::string& folder)
      : insert_(folder + "/bare_insert.sql"),
        fill_(folder + "/bare_fill.sql"),
        claim_(folder + "/bare_claim.sql"),
        settle_(folder + "/bare_settle.sql") {
    database.script("SET search_path = public; " + read_file(folder + "/bare_tables.sql"));
    for (std::size_t i = 0; i < 4; ++i) connections_.push_back(database.connect());
    from_.assign(connections_.size(), 0);
    for (const auto& connection : connections_) {
      must(connection->script("SET enable_hashjoin = off; SET enable_mergejoin = off", kPatient));
    }
  }

  void insert(std::size_t thread, const std::vector<NewItem>& items) {
    Columns columns(items);
    run(thread, insert_,
        Params()
            .int4(number(thread))
            .texts(columns.ids)
            .int8s(columns.due)
            .byteas(columns.digests)
            .byteas(columns.contexts));
  }
  void fill(std::size_t thread, const std::vector<NewItem>& items) {
    Columns columns(items);
    run(thread, fill_,
        Params()
            .int4(number(thread))
            .texts(columns.ids)
            .int8s(columns.due)
            .byteas(columns.contexts));
  }
  // Claims and settles once; how many. It begins where it ended, as a good loop would.
  std::size_t drain(std::size_t thread) {
    const Rows rows = run(thread, claim_,
                          Params()
                              .int4(number(thread))
                              .int8(from_[thread])
                              .int8(kLater.time_since_epoch().count())
                              .int4(kItems));
    std::vector<std::string_view> ids;
    std::vector<std::int64_t> due;
    std::size_t bytes = 0;
    for (int row = 0; row < rows.size(); ++row) {
      ids.push_back(rows.text(row, 0));
      due.push_back(rows.int8(row, 1));
      bytes += std::string(rows.text(row, 2)).size();
      from_[thread] = std::max(from_[thread], due.back());
    }
    if (bytes != ids.size() * kContextBytes) stop("a context is not what it was");
    if (!ids.empty()) run(thread, settle_, Params().int4(number(thread)).texts(ids).int8s(due));
    return ids.size();
  }

 private:
  struct File {
    explicit File(const std::string& path) : name(path), text(read_file(path)) {}
    std::string name, text;
    const SqlFile sql{name.c_str(), text.c_str()};
  };
  struct Columns {
    explicit Columns(const std::vector<NewItem>& items) {
      for (const NewItem& item : items) {
        ids.emplace_back(item.id.str());
        due.push_back(item.due.time_since_epoch().count());
        contexts.emplace_back(item.context);
        digests.emplace_back(reinterpret_cast<const char*>(item.digest.data()), item.digest.size());
      }
    }
    std::vector<std::string_view> ids, contexts, digests;
    std::vector<std::int64_t> due;
  };

  static std::int32_t number(std::size_t thread) { return static_cast<std::int32_t>(thread); }
  Rows run(std::size_t thread, const File& file, Params params) {
    return must(
        connections_[thread]->run(Call{.sql = file.sql, .params = std::move(params)}, kPatient));
  }

  const File insert_, fill_, claim_, settle_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<std::int64_t> from_;
};

class Ours {
 public:
  explicit Ours(const Database& database) : node_(database.node(4)) {}

  void insert(std::size_t thread, const std::vector<NewItem>& items) {
    for (const auto& answer :
         node_->backend().queue.store->enqueue(items, from_epoch_millis(kStartMs))) {
      if (!answer) stop(answer.error().what);
      if (answer->result != store::EnqueueResult::created) stop("an item was there");
    }
    (void)thread;
  }
  std::size_t drain(std::size_t thread) {
    const ItemType type = ItemType::trusted(type_name(thread));
    const store::Claim claim = must(node_->backend().queue.store->claim(
        {.type = type, .token = 1, .limit = kItems, .stale = std::chrono::minutes{2}}, kLater));
    std::vector<store::Settlement> settlements;
    std::size_t bytes = 0;
    for (const store::ClaimedItem& item : claim.items) {
      bytes += item.context.size();
      settlements.push_back({.id = item.id, .batch_id = claim.batch_id, .detail = "HTTP 200"});
    }
    if (bytes != claim.items.size() * kContextBytes) stop("a context is not what it was");
    const auto moved = must(node_->backend().queue.store->settle(
        {.type = type, .token = 1, .items = settlements}, kLater));
    return static_cast<std::size_t>(std::ranges::count(moved, true));
  }
  std::uint64_t dispatched(std::size_t type) {
    const auto summary =
        must(node_->backend().queue.store->summary(ItemType::trusted(type_name(type))));
    return summary.counts[static_cast<std::size_t>(store::ItemState::dispatched)];
  }

 private:
  std::unique_ptr<PostgresStore> node_;
};

// Fills, then drains with one thread for each type; items per second of the draining.
template <class Queue>
double drain_rate(Queue& queue, Items& items) {
  std::vector<std::thread> threads;
  for (std::size_t type = 0; type < kDispatchers; ++type) {
    threads.emplace_back([&, type] {
      for (std::size_t i = 0; i < kFill / kItems; ++i) {
        if constexpr (requires { queue.fill(type, items.batch(type)); }) {
          queue.fill(type, items.batch(type));
        } else {
          queue.insert(type, items.batch(type));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  threads.clear();
  std::atomic<std::size_t> drained{0};
  const runtime::Stopwatch watch;
  for (std::size_t type = 0; type < kDispatchers; ++type) {
    threads.emplace_back([&, type] {
      for (std::size_t left = kFill; left > 0;) {
        const std::size_t done = queue.drain(type);
        if (done == 0) stop("nothing to drain");
        left -= std::min(left, done);
        drained += done;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return static_cast<double>(drained) / watch.seconds();
}

void run_enqueue(const ServerProcess& server, const std::string& folder) {
  const Database ours_db(server, "enqueue_ours"), bare_db(server, "enqueue_bare");
  Ours ours(ours_db);
  Bare bare(bare_db, folder);
  Items items;
  std::vector<double> ratios, our_rates, bare_rates;
  for (int round = 0; round < 6; ++round) {
    const double b =
        rate(2, 100, [&](std::size_t thread) { bare.insert(thread, items.batch(thread)); });
    const double o =
        rate(2, 100, [&](std::size_t thread) { ours.insert(thread, items.batch(thread)); });
    if (round == 0) continue;  // warms caches and plans
    ratios.push_back(o / b);
    our_rates.push_back(o * kItems);
    bare_rates.push_back(b * kItems);
  }
  std::printf("enqueue, batches of %zu, 2 connections: %.0f items/s, bare insert %.0f rows/s\n",
              kItems, median(our_rates), median(bare_rates));
  ratio("dispatch.enqueue_vs_bare_insert", median(ratios), 0.5);
}

void run_drain(const ServerProcess& server, const std::string& folder) {
  const Database ours_db(server, "drain_ours"), bare_db(server, "drain_bare");
  Ours ours(ours_db);
  Bare bare(bare_db, folder);
  Items items;
  std::vector<double> ratios, our_rates, bare_rates;
  constexpr int kRounds = 6;
  for (int round = 0; round < kRounds; ++round) {
    const double b = drain_rate(bare, items);
    const double o = drain_rate(ours, items);
    std::printf("  round %d: %.0f items/s, bare %.0f\n", round, o, b);
    if (round == 0) continue;
    ratios.push_back(o / b);
    our_rates.push_back(o);
    bare_rates.push_back(b);
  }
  if (ours.dispatched(0) != kRounds * kFill) stop("the summary is wrong");
  std::printf("drain, claim %zu and settle %zu, %zu dispatchers: %.0f items/s, bare loop %.0f\n",
              kItems, kItems, kDispatchers, median(our_rates), median(bare_rates));
  ratio("dispatch.drain_vs_bare_loop", median(ratios), 0.7);
}

// The crowd is put there by SQL, since only its presence matters.
void crowd(const Database& database, long items) {
  database.script(
      "SELECT penstock.dispatch_types(ARRAY['TYPE0', 'TYPE1']);"
      "INSERT INTO penstock.dispatch_item SELECT n, " +
      std::to_string(kDueUs * 2) + " + n, " + std::to_string(kDueUs * 2) +
      " + n, 1, 1 + n % 2, 'later-' || md5(n::text), '\\x00', '\\x00'"
      "  FROM generate_series(1, " +
      std::to_string(items) +
      ") n;"
      "INSERT INTO penstock.dispatch_queue (item_no, due_us, type_id, item_id)"
      "  SELECT i.item_no, i.due_us, i.type_id, i.item_id FROM penstock.dispatch_item i;"
      "INSERT INTO penstock.dispatch_change (type_id, ready, claimed, dispatched, dead, cancelled)"
      "  SELECT t, " +
      std::to_string(items / 2) +
      ", 0, 0, 0, 0 FROM generate_series(1, 2) t;"
      "SELECT setval('penstock.dispatch_item_no', 100)");
  database.script("VACUUM ANALYZE penstock.dispatch_queue");
  database.script("CHECKPOINT");
}

void run_future(const ServerProcess& server, long future) {
  const Database alone_db(server, "alone"), crowd_db(server, "crowd");
  crowd(crowd_db, future);
  Ours alone(alone_db), crowded(crowd_db);
  Items items;
  std::vector<double> ratios, alone_rates, crowd_rates;
  for (int round = 0; round < 6; ++round) {
    const double a = drain_rate(alone, items);
    const double c = drain_rate(crowded, items);
    if (round == 0) continue;
    ratios.push_back(c / a);
    alone_rates.push_back(a);
    crowd_rates.push_back(c);
  }
  const runtime::Stopwatch watch;
  crowded.dispatched(0);
  std::printf(
      "drain before %ld items due later: %.0f items/s, alone %.0f; a summary takes %.1f ms\n",
      future, median(crowd_rates), median(alone_rates), watch.seconds() * 1e3);
  ratio("dispatch.drain_with_future_items", median(ratios), 0.9);
}

void run_snapshot(const ServerProcess& server) {
  const Database database(server, "snapshot");
  Ours ours(database);
  Items items;
  for (int i = 0; i < 2; ++i) drain_rate(ours, items);
  std::vector<double> before, held;
  for (int i = 0; i < 3; ++i) before.push_back(drain_rate(ours, items));
  const auto holder = database.connect();
  must(holder->script(
      "SET idle_in_transaction_session_timeout = 0; BEGIN ISOLATION LEVEL REPEATABLE READ;"
      "SELECT count(*) FROM penstock.dispatch_type",
      kPatient));
  for (int i = 0; i < 5; ++i) drain_rate(ours, items);  // 400,000 dead rows at the head
  for (int i = 0; i < 3; ++i) held.push_back(drain_rate(ours, items));
  const runtime::Stopwatch watch;
  ours.dispatched(0);
  std::printf("held snapshot: %.0f items/s before, %.0f with it; a summary takes %.1f ms\n",
              median(before), median(held), watch.seconds() * 1e3);
  ratio("dispatch.held_snapshot", median(held) / median(before), 0.65);
}

}  // namespace
}  // namespace penstock::bench

int main(int argc, char** argv) {
  using namespace penstock::bench;
  if (argc < 2) stop("usage: bench_dispatch SQL_FOLDER [PART] [--future N]");
  std::string part;
  long future = 1'000'000;
  for (int i = 2; i < argc; ++i) {
    if (std::strcmp(argv[i], "--future") == 0 && i + 1 < argc) {
      future = std::atol(argv[++i]);
    } else {
      part = argv[i];
    }
  }
  const penstock::store::postgres::ServerProcess server(/*fsync=*/true);
  if (!server.problem().empty()) stop(server.problem());
  const auto wanted = [&](const char* name) { return part.empty() || part == name; };
  if (wanted("enqueue")) run_enqueue(server, argv[1]);
  if (wanted("drain")) run_drain(server, argv[1]);
  if (wanted("future")) run_future(server, future);
  if (wanted("snapshot")) run_snapshot(server);
}
