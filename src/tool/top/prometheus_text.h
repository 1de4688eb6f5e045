// The text format of Prometheus, as far as a daemon writes it. Total: lines that are no samples are
// passed over. Pure; safe on any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::tool {

struct MetricSample {
  std::string name;
  std::vector<std::pair<std::string, std::string>> labels;  // unescaped
  std::string value;                                        // as it was written

  std::string label_text() const;  // item_type=ORDER result=ok
};

std::vector<MetricSample> parse_prometheus(std::string_view text);

// [{"name":…,"labels":{…},"value":…}]; a value that JSON has no number for is a string.
std::string samples_json(const std::vector<MetricSample>& samples);

}  // namespace penstock::tool
