// How many items a second QueueStore takes in and hands out on the embedded store, with synced
// writes. Beside each figure stands what the disk alone allows: the same bytes written to a file
// and synced as often, in the same run.
//
//   enqueue  batches of 1,000 items with a context of 300 bytes, due at random within an hour
//   drain    claims of 500 on one thread, settled in batches of 500 on another, until all are done
//   idle     one claim while a million items wait for a later time, and a summary
//   forget   steps of 1,000
//
// Usage: bench_queue [ITEMS] [FOLDER]    (on a real disk; default: 500,000 and the system's folder
//                                        for temporary files)
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "runtime/clocks.h"
#include "store/embedded/store.h"

namespace penstock::store::embedded {
namespace {

constexpr std::size_t kEnqueueBatch = 1'000;
constexpr std::size_t kClaimBatch = 500;
constexpr std::size_t kContextBytes = 300;

using Elapsed = std::chrono::duration<double>;

[[noreturn]] void stop(std::string_view why) {
  fmt::print(stderr, "bench_queue: {}\n", why);
  std::exit(1);
}

template <class T>
T must(Result<T> result) {
  if (!result) stop(result.error().what);
  return std::move(*result);
}

template <class Work>
double seconds(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return Elapsed(std::chrono::steady_clock::now() - begin).count();
}

ItemType type() { return ItemType::trusted("PAYMENT"); }

// Seconds that `writes` synced appends of `bytes` take.
double disk_seconds(const std::filesystem::path& dir, std::size_t writes, std::size_t bytes) {
  const std::string file = dir / "disk";
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) stop("cannot write to the folder");
  const std::string block(bytes, 'x');
  const double took = seconds([&] {
    for (std::size_t i = 0; i < writes; ++i) {
      if (write(fd, block.data(), block.size()) < 0 || fdatasync(fd) != 0) stop("cannot write");
    }
  });
  close(fd);
  std::filesystem::remove(file);
  return took;
}

std::vector<NewItem> make_batch(Rng& rng, Instant from) {
  std::vector<NewItem> items(kEnqueueBatch);
  for (NewItem& item : items) {
    item.type = type();
    item.id = ItemId::trusted(fmt::format("{:016x}{:016x}", rng(), rng()));
    item.due = from + Millis{rng.between(0, 3'599'999)};
    item.context = fmt::format(R"({{"account":"{:016x}","note":")", rng());
    while (item.context.size() < kContextBytes - 2) item.context += fmt::format("{:x}", rng());
    item.context.resize(kContextBytes - 2);
    item.context += R"("})";
  }
  return items;
}

double enqueue(QueueStore& queue, std::size_t items, Instant from, std::uint64_t seed) {
  Rng rng(seed);
  double total = 0;
  for (std::size_t done = 0; done < items; done += kEnqueueBatch) {
    const std::vector<NewItem> batch = make_batch(rng, from);
    total += seconds([&] {
      for (const auto& each : queue.enqueue(batch, std::nullopt)) {
        if (!each) stop(each.error().what);
      }
    });
  }
  return total;
}

// Claims handed from one thread to the other, at most two at a time, as a dispatcher holds them.
class Hand {
 public:
  void put(Claim claim) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return claims_.size() < 2; });
    claims_.push_back(std::move(claim));
    changed_.notify_all();
  }
  Claim take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !claims_.empty(); });
    Claim claim = std::move(claims_.front());
    claims_.pop_front();
    changed_.notify_all();
    return claim;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Claim> claims_;
};

double drain(QueueStore& queue, std::size_t items) {
  Hand hand;
  double slowest = 0;
  double claims = 0;
  const double took = seconds([&] {
    std::jthread settler([&] {
      for (std::size_t done = 0; done < items;) {
        const Claim claim = hand.take();
        std::vector<Settlement> settlements;
        for (const ClaimedItem& item : claim.items) {
          settlements.push_back({.id = item.id, .batch_id = claim.batch_id, .detail = "HTTP 200"});
        }
        must(queue.settle({.type = type(), .token = 1, .items = settlements}, std::nullopt));
        done += claim.items.size();
      }
    });
    for (std::size_t done = 0; done < items;) {
      Claim claim;
      const double once = seconds([&] {
        claim = must(queue.claim(
            {.type = type(), .token = 1, .limit = kClaimBatch, .stale = std::chrono::minutes{2}},
            std::nullopt));
      });
      slowest = std::max(slowest, once);
      claims += once;
      if (claim.items.empty()) stop("items are missing");
      done += claim.items.size();
      hand.put(std::move(claim));
    }
  });
  fmt::print("  claim of {}: mean {:.2f} ms, slowest {:.1f} ms\n", kClaimBatch,
             1e3 * claims / static_cast<double>(items / kClaimBatch), 1e3 * slowest);
  return took;
}

void print_rate(std::string_view what, std::size_t items, double took, double disk) {
  fmt::print("{:<8} {:>9.0f} items/s  ({:.2f} us an item; the disk alone {:.2f})\n", what,
             static_cast<double>(items) / took, 1e6 * took / static_cast<double>(items),
             1e6 * disk / static_cast<double>(items));
}

void run(std::size_t items, const std::filesystem::path& parent) {
  std::string pattern = (parent / "bench-queue-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) stop("cannot make a folder");
  const std::filesystem::path dir = pattern;
  {
    const runtime::SystemClock clock;
    auto store = must(EmbeddedStore::open({.dir = dir / "data"}, clock));
    QueueStore& queue = *store->backend().queue.store;
    const std::size_t writes = items / kEnqueueBatch;
    const Instant now = cut_to_millis(clock.now());
    double took = enqueue(queue, items, now - std::chrono::hours{1}, 1);
    print_rate("enqueue", items, took, disk_seconds(dir, writes, kEnqueueBatch * 700));
    took = drain(queue, items);
    print_rate("drain", items, took,
               disk_seconds(dir, 2 * (items / kClaimBatch), kClaimBatch * 330));
    std::size_t gone = 0;
    took = seconds([&] {
      while (const std::size_t step =
                 must(queue.forget(type(), now + std::chrono::hours{1}, kEnqueueBatch))) {
        gone += step;
      }
    });
    print_rate("forget", gone, took, disk_seconds(dir, writes, kEnqueueBatch * 150));
    took = enqueue(queue, items, now + std::chrono::hours{24}, 2);
    print_rate("again", items, took, disk_seconds(dir, writes, kEnqueueBatch * 700));
    took = seconds([&] {
      for (int i = 0; i < 1'000; ++i) {
        must(queue.claim({.type = type(), .token = 1, .limit = kClaimBatch, .stale = Seconds{60}},
                         std::nullopt));
      }
    });
    fmt::print("idle     {:.1f} us a claim while {} items wait\n", 1e3 * took, items);
    took = seconds([&] {
      for (int i = 0; i < 1'000; ++i) must(queue.summary(type()));
    });
    fmt::print("summary  {:.1f} us\n", 1e3 * took);
    store.reset();
    took = seconds([&] { store = must(EmbeddedStore::open({.dir = dir / "data"}, clock)); });
    fmt::print("open     {:.0f} ms\n", 1e3 * took);
  }
  std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace penstock::store::embedded

int main(int argc, char** argv) {
  const std::size_t items = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 500'000;
  penstock::store::embedded::run(
      items, argc > 2 ? std::filesystem::path(argv[2]) : std::filesystem::temp_directory_path());
  return 0;
}
