// What `penstock top` knows about a daemon: the samples of its live stream
// (front/http/routes/live_feed.h), the settings of its item types, and whether it can be seen at
// all. A value; nothing here asks anybody. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/json.h"

namespace penstock::tool {

struct TopType {
  static constexpr std::size_t kStates = 5;  // READY CLAIMED DISPATCHED DEAD CANCELLED

  std::string name;
  double dispatched = 0;
  double failed = 0;
  double pace_used = 0;
  bool paused = false;
  bool lease_held = false;
  std::array<double, kStates> depths{};
};

// From the type's settings and its summary, which come less often.
struct TopTypeSettings {
  bool enabled = true;
  std::optional<double> max_per_second;
  std::optional<double> drain_seconds;
};

struct TopCheck {
  std::string name;
  bool up = false;
  std::string message;
};

class TopState {
 public:
  enum class Link : std::uint8_t { connecting, live, lost };
  static constexpr std::size_t kRowsKept = 61;  // a minute of differences

  // An event of the stream. What cannot be read is an error, and changes nothing.
  Result<void> take_event(std::string_view name, std::string_view data);
  // The answer of GET /admin/dispatch/types, and of …/summary of one of them.
  Result<void> take_types(std::string_view json);
  Result<void> take_summary(std::string_view json);
  void lose(std::string why);

  Link link() const noexcept { return link_; }
  const std::string& problem() const noexcept { return problem_; }  // of a lost link
  std::uint64_t reconnects() const noexcept { return reconnects_; }
  std::size_t samples() const noexcept { return samples_; }  // seen since the link is there
  std::int64_t time_millis() const noexcept { return rows_.empty() ? 0 : rows_.back().millis; }

  // Of a column of the stream; 0 for one that this daemon does not have.
  double last(std::string_view column) const noexcept;
  // Growth per second between the last two samples; 0 across a restart, where totals fall.
  double rate(std::string_view column) const noexcept;
  // Growth of a sum over growth of its count, in the last ten seconds; nothing happened: none.
  std::optional<double> mean(std::string_view sum, std::string_view count) const noexcept;
  // rate() of the last minute of the sum of these columns, oldest first.
  std::vector<double> rates(const std::vector<std::string_view>& columns) const;

  const std::vector<TopType>& types() const noexcept { return types_; }
  double type_rate(const TopType& type) const noexcept;
  const TopTypeSettings* settings(const std::string& type) const noexcept;
  const std::vector<TopCheck>& checks() const noexcept { return checks_; }

 private:
  struct Row {
    std::int64_t millis = 0;
    std::vector<double> values;
  };

  Result<void> take_history(wire::JsonValue root);
  Result<void> take_sample(wire::JsonValue root);
  std::optional<std::size_t> column(std::string_view name) const noexcept;
  double growth(const Row& from, const Row& to, std::string_view name) const noexcept;

  Link link_ = Link::connecting;
  std::string problem_;
  std::uint64_t reconnects_ = 0;
  std::size_t samples_ = 0;
  std::vector<std::string> columns_;
  std::deque<Row> rows_;  // oldest first
  std::vector<TopType> types_;
  std::vector<TopType> types_before_;
  double types_seconds_ = 0;  // between these two
  std::vector<TopCheck> checks_;
  std::map<std::string, TopTypeSettings> settings_;
};

}  // namespace penstock::tool
