#include "runtime/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace penstock::runtime {
namespace {

TEST(Metrics, prints_nothing_when_empty) { EXPECT_EQ(Metrics().prometheus_text(), ""); }

TEST(Metrics, prints_counters_and_gauges_as_prometheus_reads_them) {
  Metrics metrics;
  Counter& counter = metrics.counter("requests_total", "Requests seen");
  Gauge& gauge = metrics.gauge("depth", "Queue depth");
  EXPECT_EQ(metrics.prometheus_text(),
            "# HELP requests_total Requests seen\n"
            "# TYPE requests_total counter\n"
            "requests_total 0\n"
            "# HELP depth Queue depth\n"
            "# TYPE depth gauge\n"
            "depth 0\n");
  counter.add();
  counter.add(41);
  gauge.set(2.5);
  gauge.add(-3);
  EXPECT_EQ(counter.value(), 42U);
  EXPECT_EQ(gauge.value(), -0.5);
  EXPECT_EQ(metrics.prometheus_text(),
            "# HELP requests_total Requests seen\n"
            "# TYPE requests_total counter\n"
            "requests_total 42\n"
            "# HELP depth Queue depth\n"
            "# TYPE depth gauge\n"
            "depth -0.5\n");
}

TEST(Metrics, gathers_the_series_of_one_name_under_one_head) {
  Metrics metrics;
  metrics.counter("a_total", "A", {{"code", "200"}}).add(1);
  metrics.counter("b_total", "B").add(2);
  metrics.counter("a_total", "A", {{"code", "500"}, {"route", "/x"}}).add(3);
  metrics.counter("a_total", "A").add(4);
  EXPECT_EQ(metrics.prometheus_text(),
            "# HELP a_total A\n"
            "# TYPE a_total counter\n"
            "a_total{code=\"200\"} 1\n"
            "a_total{code=\"500\",route=\"/x\"} 3\n"
            "a_total 4\n"
            "# HELP b_total B\n"
            "# TYPE b_total counter\n"
            "b_total 2\n");
}

TEST(Metrics, escapes_label_values) {
  Metrics metrics;
  metrics.counter("a_total", "A", {{"x", "q\"b\\n\nend"}});
  EXPECT_NE(metrics.prometheus_text().find("a_total{x=\"q\\\"b\\\\n\\nend\"} 0\n"),
            std::string::npos)
      << metrics.prometheus_text();
}

TEST(Metrics, prints_cumulative_buckets_with_sum_and_count) {
  Metrics metrics;
  Histogram& histogram = metrics.histogram("t_seconds", "Time", {0.1, 1, 2.5}, {{"op", "x"}});
  histogram.observe(0.05);
  histogram.observe(0.1);  // a bound belongs to its own bucket
  histogram.observe(0.5, 3);
  histogram.observe(100);
  EXPECT_EQ(metrics.prometheus_text(),
            "# HELP t_seconds Time\n"
            "# TYPE t_seconds histogram\n"
            "t_seconds_bucket{op=\"x\",le=\"0.1\"} 2\n"
            "t_seconds_bucket{op=\"x\",le=\"1\"} 5\n"
            "t_seconds_bucket{op=\"x\",le=\"2.5\"} 5\n"
            "t_seconds_bucket{op=\"x\",le=\"+Inf\"} 6\n"
            "t_seconds_sum{op=\"x\"} 101.65\n"
            "t_seconds_count{op=\"x\"} 6\n");
}

TEST(Metrics, prints_a_histogram_without_labels_or_bounds) {
  Metrics metrics;
  metrics.histogram("h", "H", {}).observe(7, 2);
  EXPECT_EQ(metrics.prometheus_text(),
            "# HELP h H\n# TYPE h histogram\nh_bucket{le=\"+Inf\"} 2\nh_sum 14\nh_count 2\n");
}

TEST(Metrics, reads_a_gauge_function_at_scrape_time) {
  Metrics metrics;
  double value = 1;
  metrics.gauge_function("waiting", "W", [&value] { return value; }, {{"q", "slots"}});
  EXPECT_EQ(metrics.prometheus_text(),
            "# HELP waiting W\n# TYPE waiting gauge\nwaiting{q=\"slots\"} 1\n");
  value = 1'000'000;
  EXPECT_EQ(metrics.prometheus_text(),
            "# HELP waiting W\n# TYPE waiting gauge\nwaiting{q=\"slots\"} 1000000\n");
}

TEST(Metrics, prints_numbers_that_are_not_finite_in_prometheus_spelling) {
  Metrics metrics;
  Gauge& gauge = metrics.gauge("g", "G");
  const std::string head = "# HELP g G\n# TYPE g gauge\n";
  gauge.set(std::numeric_limits<double>::infinity());
  EXPECT_EQ(metrics.prometheus_text(), head + "g +Inf\n");
  gauge.set(-std::numeric_limits<double>::infinity());
  EXPECT_EQ(metrics.prometheus_text(), head + "g -Inf\n");
  gauge.set(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(metrics.prometheus_text(), head + "g NaN\n");
}

TEST(Metrics, keeps_its_series_where_they_are_as_more_are_made) {
  Metrics metrics;
  Counter& first = metrics.counter("n_total", "N", {{"i", "first"}});
  Histogram& histogram = metrics.histogram("h", "H", {1});
  for (int i = 0; i < 1'000; ++i) {
    metrics.counter("n_total", "N", {{"i", std::to_string(i)}});
    metrics.histogram("h", "H", {1}, {{"i", std::to_string(i)}});
  }
  first.add(7);
  histogram.observe(1);
  EXPECT_NE(metrics.prometheus_text().find("n_total{i=\"first\"} 7\n"), std::string::npos);
  EXPECT_NE(metrics.prometheus_text().find("h_bucket{le=\"1\"} 1\n"), std::string::npos);
}

TEST(Metrics, loses_nothing_when_many_threads_record_while_one_scrapes) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kTimes = 5'000;
  Metrics metrics;
  Counter& counter = metrics.counter("c_total", "C");
  Gauge& gauge = metrics.gauge("g", "G");
  Histogram& histogram = metrics.histogram("h", "H", {1, 2});
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (std::size_t i = 0; i < kTimes; ++i) {
          counter.add();
          gauge.add(1);
          histogram.observe(static_cast<double>(i % 3) + 0.5);
        }
      });
    }
    for (int i = 0; i < 20; ++i) EXPECT_FALSE(metrics.prometheus_text().empty());
  }
  constexpr std::size_t kAll = kThreads * kTimes;
  EXPECT_EQ(counter.value(), kAll);
  EXPECT_EQ(gauge.value(), static_cast<double>(kAll));
  EXPECT_EQ(histogram.bucket(0) + histogram.bucket(1) + histogram.bucket(2), kAll);
  EXPECT_EQ(histogram.bucket(0), kThreads * 1'667);
  EXPECT_EQ(histogram.sum(), kThreads * (1'667 * 0.5 + 1'667 * 1.5 + 1'666 * 2.5));
}

TEST(Metrics, shows_every_series_to_a_visitor) {
  Metrics metrics;
  metrics.counter("a_total", "A", {{"x", "1"}}).add(3);
  metrics.gauge("b", "B").set(0.5);
  metrics.gauge_function("c", "C", [] { return 7.0; });
  metrics.histogram("d", "D", {1, 2}).observe(1.5, 4);
  std::vector<std::string> seen;
  metrics.visit([&](const Metrics::Sample& sample) {
    seen.push_back(std::string(sample.name) + "{" + std::string(sample.labels) + "} " +
                   std::to_string(sample.value) + " " + std::to_string(sample.sum));
  });
  EXPECT_EQ(seen,
            (std::vector<std::string>{"a_total{x=\"1\"} 3.000000 0.000000", "b{} 0.500000 0.000000",
                                      "c{} 7.000000 0.000000", "d{} 4.000000 6.000000"}));
}

TEST(LatencyBounds, rise_from_100_microseconds_to_10_seconds) {
  const std::vector<double> bounds = latency_bounds();
  EXPECT_EQ(bounds.front(), 0.0001);
  EXPECT_EQ(bounds.back(), 10);
  EXPECT_TRUE(std::ranges::is_sorted(bounds));
  EXPECT_EQ(std::ranges::adjacent_find(bounds), bounds.end());
}

TEST(MetricsDeathTest, refuses_the_same_series_twice) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Metrics metrics;
  metrics.counter("a_total", "A", {{"x", "1"}});
  EXPECT_DEATH(metrics.counter("a_total", "A", {{"x", "1"}}), "labels");
}

TEST(MetricsDeathTest, refuses_one_name_for_two_types) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Metrics metrics;
  metrics.counter("a_total", "A");
  EXPECT_DEATH(metrics.gauge("a_total", "A", {{"x", "1"}}), "type");
}

TEST(MetricsDeathTest, refuses_bounds_that_do_not_rise) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(Histogram({2, 1}), "is_sorted");
}

}  // namespace
}  // namespace penstock::runtime
