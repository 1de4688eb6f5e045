#include "tool/top/prometheus_text.h"

#include <algorithm>
#include <optional>

#include "wire/json.h"

namespace penstock::tool {
namespace {

// The text up to the closing quote, unescaped; `rest` begins after that.
std::optional<std::string> quoted(std::string_view& rest) {
  std::string out;
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '"') {
      rest.remove_prefix(i + 1);
      return out;
    }
    if (rest[i] == '\\' && i + 1 < rest.size()) {
      ++i;
      out += rest[i] == 'n' ? '\n' : rest[i];
    } else {
      out += rest[i];
    }
  }
  return std::nullopt;
}

// `{a="b",c="d"}`; false when it is not that.
bool read_labels(std::string_view& rest, MetricSample& sample) {
  rest.remove_prefix(1);
  while (!rest.starts_with('}')) {
    const std::size_t equals = rest.find("=\"");
    if (equals == rest.npos) return false;
    const std::string name(rest.substr(0, equals));
    rest.remove_prefix(equals + 1);
    std::optional<std::string> value = quoted(rest);
    if (!value) return false;
    sample.labels.emplace_back(name, *std::move(value));
    if (rest.starts_with(',')) rest.remove_prefix(1);
  }
  rest.remove_prefix(1);
  return true;
}

std::optional<MetricSample> read_line(std::string_view line) {
  const std::size_t name_end = line.find_first_of("{ ");
  if (line.starts_with('#') || name_end == 0 || name_end == line.npos) return std::nullopt;
  MetricSample sample{.name = std::string(line.substr(0, name_end)), .labels = {}, .value = {}};
  line.remove_prefix(name_end);
  if (line.starts_with('{') && !read_labels(line, sample)) return std::nullopt;
  if (!line.starts_with(' ')) return std::nullopt;
  line.remove_prefix(1);
  sample.value = line.substr(0, line.find(' '));  // a time may follow
  if (sample.value.empty()) return std::nullopt;
  return sample;
}

}  // namespace

std::string MetricSample::label_text() const {
  std::string text;
  for (const auto& label : labels) {
    if (!text.empty()) text += ' ';
    text.append(label.first).append("=").append(label.second);
  }
  return text;
}

std::vector<MetricSample> parse_prometheus(std::string_view text) {
  std::vector<MetricSample> samples;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (std::optional<MetricSample> sample = read_line(text.substr(0, end))) {
      samples.push_back(*std::move(sample));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return samples;
}

std::string samples_json(const std::vector<MetricSample>& samples) {
  std::string out = "[";
  for (const MetricSample& sample : samples) {
    out += out.size() > 1 ? ",\n{\"name\":" : "{\"name\":";
    wire::append_json_string(out, sample.name);
    out += ",\"labels\":{";
    for (std::size_t i = 0; i < sample.labels.size(); ++i) {
      if (i > 0) out += ',';
      wire::append_json_string(out, sample.labels[i].first);
      out += ':';
      wire::append_json_string(out, sample.labels[i].second);
    }
    out += "},\"value\":";
    const Result<wire::JsonDocument> number = wire::parse_json(sample.value);
    if (number && number->root().type() == wire::JsonType::number) {
      out += sample.value;
    } else {
      wire::append_json_string(out, sample.value);
    }
    out += '}';
  }
  return out + "]";
}

}  // namespace penstock::tool
