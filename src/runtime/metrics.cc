#include "runtime/metrics.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/check.h"

namespace penstock::runtime {
namespace {

std::string format_labels(const Metrics::Labels& labels) {
  std::string out;
  for (const auto& [name, value] : labels) {
    if (!out.empty()) out += ',';
    out += name;
    out += "=\"";
    for (const char c : value) {
      if (c == '"' || c == '\\') out += '\\';
      if (c == '\n') {
        out += "\\n";
      } else {
        out += c;
      }
    }
    out += '"';
  }
  return out;
}

std::string format_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{:.15g}", value);
}

void append_sample(std::string& out, std::string_view name, std::string_view suffix,
                   std::string_view labels, std::string_view extra, std::string_view value) {
  out += name;
  out += suffix;
  if (!labels.empty() || !extra.empty()) {
    out += '{';
    out += labels;
    if (!labels.empty() && !extra.empty()) out += ',';
    out += extra;
    out += '}';
  }
  out += ' ';
  out += value;
  out += '\n';
}

void append_histogram(std::string& out, std::string_view name, std::string_view labels,
                      const Histogram& histogram) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i <= histogram.bounds().size(); ++i) {
    total += histogram.bucket(i);
    const bool last = i == histogram.bounds().size();
    const std::string bound = last ? "+Inf" : format_number(histogram.bounds()[i]);
    append_sample(out, name, "_bucket", labels, fmt::format("le=\"{}\"", bound),
                  fmt::format("{}", total));
  }
  append_sample(out, name, "_sum", labels, {}, format_number(histogram.sum()));
  append_sample(out, name, "_count", labels, {}, fmt::format("{}", total));
}

}  // namespace

Histogram::Histogram(std::vector<double> bounds)
    : bounds_(std::move(bounds)), buckets_(bounds_.size() + 1) {
  PENSTOCK_CHECK(std::ranges::is_sorted(bounds_));
}

void Histogram::observe(double value, std::uint64_t times) noexcept {
  const auto at = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
  buckets_[static_cast<std::size_t>(at)].fetch_add(times, std::memory_order_relaxed);
  sum_.fetch_add(value * static_cast<double>(times), std::memory_order_relaxed);
}

std::uint64_t Histogram::count() const noexcept {
  std::uint64_t total = 0;
  for (const auto& bucket : buckets_) total += bucket.load(std::memory_order_relaxed);
  return total;
}

std::vector<double> latency_bounds() {
  return {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
          0.05,   0.1,     0.25,   0.5,   1,      2.5,   5,    10};
}

void Metrics::add(std::string name, std::string help, Type type, const Labels& labels,
                  Series series) {
  series.labels = format_labels(labels);
  auto family = std::ranges::find(families_, name, &Family::name);
  if (family == families_.end()) {
    families_.push_back({std::move(name), std::move(help), type, {}});
    family = families_.end() - 1;
  }
  PENSTOCK_CHECK(family->type == type);
  PENSTOCK_CHECK(std::ranges::find(family->series, series.labels, &Series::labels) ==
                 family->series.end());
  family->series.push_back(std::move(series));
}

Counter& Metrics::counter(std::string name, std::string help, const Labels& labels) {
  const std::lock_guard lock(mutex_);
  Counter& made = counters_.emplace_back();
  add(std::move(name), std::move(help), Type::counter, labels, {.counter = &made});
  return made;
}

Gauge& Metrics::gauge(std::string name, std::string help, const Labels& labels) {
  const std::lock_guard lock(mutex_);
  Gauge& made = gauges_.emplace_back();
  add(std::move(name), std::move(help), Type::gauge, labels, {.gauge = &made});
  return made;
}

Histogram& Metrics::histogram(std::string name, std::string help, std::vector<double> bounds,
                              const Labels& labels) {
  const std::lock_guard lock(mutex_);
  Histogram& made = histograms_.emplace_back(std::move(bounds));
  add(std::move(name), std::move(help), Type::histogram, labels, {.histogram = &made});
  return made;
}

void Metrics::gauge_function(std::string name, std::string help, std::function<double()> read,
                             const Labels& labels) {
  const std::lock_guard lock(mutex_);
  add(std::move(name), std::move(help), Type::gauge, labels, {.read = std::move(read)});
}

void Metrics::visit(const std::function<void(const Sample&)>& see) const {
  const std::lock_guard lock(mutex_);
  for (const Family& family : families_) {
    for (const Series& series : family.series) {
      Sample sample{.name = family.name, .labels = series.labels};
      if (series.histogram) {
        sample.value = static_cast<double>(series.histogram->count());
        sample.sum = series.histogram->sum();
      } else if (series.counter) {
        sample.value = static_cast<double>(series.counter->value());
      } else {
        sample.value = series.gauge ? series.gauge->value() : series.read();
      }
      see(sample);
    }
  }
}

std::string Metrics::prometheus_text() const {
  const std::lock_guard lock(mutex_);
  std::string out;
  out.reserve(8 * 1024);
  for (const Family& family : families_) {
    static constexpr std::string_view kTypes[] = {"counter", "gauge", "histogram"};
    fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", family.name,
                   family.help, family.name, kTypes[static_cast<int>(family.type)]);
    for (const Series& series : family.series) {
      if (series.histogram) {
        append_histogram(out, family.name, series.labels, *series.histogram);
      } else if (series.counter) {
        append_sample(out, family.name, {}, series.labels, {},
                      fmt::format("{}", series.counter->value()));
      } else {
        append_sample(out, family.name, {}, series.labels, {},
                      format_number(series.gauge ? series.gauge->value() : series.read()));
      }
    }
  }
  return out;
}

}  // namespace penstock::runtime
