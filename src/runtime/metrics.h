// Counters, gauges and histograms, printed as Prometheus text. Series are made at start-up and live
// as long as the registry; their label sets are closed, never user keys. Recording is lock-free and
// safe on any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::runtime {

class Counter {
 public:
  void add(std::uint64_t n = 1) noexcept { value_.fetch_add(n, std::memory_order_relaxed); }
  std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

class Gauge {
 public:
  void set(double value) noexcept { value_.store(value, std::memory_order_relaxed); }
  void add(double by) noexcept { value_.fetch_add(by, std::memory_order_relaxed); }
  double value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

class Histogram {
 public:
  explicit Histogram(std::vector<double> bounds);  // ascending upper bounds; +Inf is added
  void observe(double value, std::uint64_t times = 1) noexcept;

  const std::vector<double>& bounds() const noexcept { return bounds_; }
  std::uint64_t bucket(std::size_t i) const noexcept {
    return buckets_[i].load(std::memory_order_relaxed);
  }
  double sum() const noexcept { return sum_.load(std::memory_order_relaxed); }
  std::uint64_t count() const noexcept;

 private:
  std::vector<double> bounds_;
  std::deque<std::atomic<std::uint64_t>> buckets_;  // one more than bounds_
  std::atomic<double> sum_{0};
};

// 100 us to 10 s, three steps a decade: enough to read a p99 off.
std::vector<double> latency_bounds();

class Metrics {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;

  // References stay valid while the registry lives. Name and labels together are made once.
  Counter& counter(std::string name, std::string help, const Labels& labels = {});
  Gauge& gauge(std::string name, std::string help, const Labels& labels = {});
  Histogram& histogram(std::string name, std::string help, std::vector<double> bounds,
                       const Labels& labels = {});
  // Read at scrape time, on the scraping thread.
  void gauge_function(std::string name, std::string help, std::function<double()> read,
                      const Labels& labels = {});

  std::string prometheus_text() const;

  struct Sample {
    std::string_view name;
    std::string_view labels;  // `a="b",c="d"`, escaped as in the text
    double value = 0;         // a histogram's number of observations
    double sum = 0;           // a histogram's, else 0
  };
  // Every series as it is now, valid within the call. `see` must not use the registry.
  void visit(const std::function<void(const Sample&)>& see) const;

 private:
  enum class Type { counter, gauge, histogram };
  struct Series {
    std::string labels;  // `a="b",c="d"`, escaped
    const Counter* counter = nullptr;
    const Gauge* gauge = nullptr;
    const Histogram* histogram = nullptr;
    std::function<double()> read;
  };
  struct Family {
    std::string name;
    std::string help;
    Type type;
    std::vector<Series> series;
  };

  void add(std::string name, std::string help, Type type, const Labels& labels, Series series);

  mutable std::mutex mutex_;  // guards all below; taken to make or print series, never to record
  std::vector<Family> families_;
  std::deque<Counter> counters_;
  std::deque<Gauge> gauges_;
  std::deque<Histogram> histograms_;
};

}  // namespace penstock::runtime
