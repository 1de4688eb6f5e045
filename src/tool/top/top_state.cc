#include "tool/top/top_state.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace penstock::tool {
namespace {

using wire::JsonType;
using wire::JsonValue;

constexpr std::size_t kMeanRows = 10;

std::unexpected<Error> not_understood() {
  return fail(ErrorKind::invalid,
              "the daemon's live stream is not understood; is it another version?");
}

double number_of(JsonValue value) {
  double number = 0;
  if (value && value.type() == JsonType::number) {
    const std::string_view raw = value.raw();
    std::from_chars(raw.data(), raw.data() + raw.size(), number);
  }
  return number;
}

std::string text_of(JsonValue value) {
  return value && value.type() == JsonType::string ? std::string(value.string()) : std::string();
}

bool truth_of(JsonValue value) {
  return value && value.type() == JsonType::boolean && value.boolean();
}

bool is(JsonValue value, JsonType type) { return value && value.type() == type; }

std::vector<double> numbers_of(JsonValue first) {
  std::vector<double> numbers;
  for (JsonValue each = first; each; each = each.next()) numbers.push_back(number_of(each));
  return numbers;
}

TopType type_of(JsonValue value) {
  TopType type{.name = text_of(value.find("type")),
               .dispatched = number_of(value.find("dispatched")),
               .failed = number_of(value.find("failed")),
               .pace_used = number_of(value.find("paceUsed")),
               .paused = truth_of(value.find("paused")),
               .lease_held = truth_of(value.find("leaseHeld"))};
  if (const JsonValue depths = value.find("depths"); is(depths, JsonType::array)) {
    const std::vector<double> numbers = numbers_of(depths.first());
    std::copy_n(numbers.begin(), std::min(numbers.size(), type.depths.size()), type.depths.begin());
  }
  return type;
}

}  // namespace

Result<void> TopState::take_event(std::string_view name, std::string_view data) {
  if (name != "history" && name != "sample") return {};
  const Result<wire::JsonDocument> document = wire::parse_json(data);
  if (!document || document->root().type() != JsonType::object) return not_understood();
  const Result<void> taken =
      name == "history" ? take_history(document->root()) : take_sample(document->root());
  if (!taken) return taken;
  if (link_ == Link::lost) ++reconnects_;
  link_ = Link::live;
  problem_.clear();
  return {};
}

Result<void> TopState::take_history(JsonValue root) {
  const JsonValue columns = root.find("columns");
  const JsonValue rows = root.find("rows");
  if (!is(columns, JsonType::array) || !is(rows, JsonType::array)) return not_understood();
  columns_.clear();
  for (JsonValue each = columns.first(); each; each = each.next())
    columns_.push_back(text_of(each));
  rows_.clear();
  for (JsonValue each = rows.first(); each; each = each.next()) {
    if (each.type() != JsonType::array || each.size() == 0) return not_understood();
    rows_.push_back(
        {static_cast<std::int64_t>(number_of(each.first())), numbers_of(each.first().next())});
    if (rows_.size() > kRowsKept) rows_.pop_front();
  }
  samples_ = 0;
  types_before_.clear();
  return {};
}

Result<void> TopState::take_sample(JsonValue root) {
  const JsonValue values = root.find("c");
  const JsonValue types = root.find("types");
  const JsonValue checks = root.find("checks");
  if (!is(values, JsonType::array) || !is(types, JsonType::array) || !is(checks, JsonType::array)) {
    return not_understood();
  }
  const auto millis = static_cast<std::int64_t>(number_of(root.find("t")));
  types_seconds_ = rows_.empty() ? 0 : static_cast<double>(millis - rows_.back().millis) / 1e3;
  rows_.push_back({millis, numbers_of(values.first())});
  if (rows_.size() > kRowsKept) rows_.pop_front();
  types_before_ = samples_ == 0 ? std::vector<TopType>() : std::move(types_);
  types_.clear();
  for (JsonValue each = types.first(); each; each = each.next()) {
    if (each.type() == JsonType::object) types_.push_back(type_of(each));
  }
  checks_.clear();
  for (JsonValue each = checks.first(); each; each = each.next()) {
    if (each.type() != JsonType::object) continue;
    checks_.push_back({.name = text_of(each.find("name")),
                       .up = truth_of(each.find("up")),
                       .message = text_of(each.find("message"))});
  }
  ++samples_;
  return {};
}

Result<void> TopState::take_types(std::string_view json) {
  const Result<wire::JsonDocument> document = wire::parse_json(json);
  if (!document || document->root().type() != JsonType::array) return not_understood();
  std::map<std::string, TopTypeSettings> settings;
  for (JsonValue each = document->root().first(); each; each = each.next()) {
    if (each.type() != JsonType::object) continue;
    std::string name = text_of(each.find("itemType"));
    TopTypeSettings type = settings_[name];  // keeps the drain time
    type.enabled = truth_of(each.find("enabled"));
    const JsonValue pace = each.find("maxPerSecond");
    type.max_per_second =
        is(pace, JsonType::number) ? std::optional(number_of(pace)) : std::nullopt;
    settings.insert_or_assign(std::move(name), type);
  }
  settings_ = std::move(settings);
  return {};
}

Result<void> TopState::take_summary(std::string_view json) {
  const Result<wire::JsonDocument> document = wire::parse_json(json);
  if (!document || document->root().type() != JsonType::object) return not_understood();
  const auto known = settings_.find(text_of(document->root().find("itemType")));
  if (known == settings_.end()) return {};
  const JsonValue drain = document->root().find("predictedDrainSeconds");
  known->second.drain_seconds =
      is(drain, JsonType::number) ? std::optional(number_of(drain)) : std::nullopt;
  return {};
}

void TopState::lose(std::string why) {
  if (link_ == Link::live) link_ = Link::lost;
  problem_ = std::move(why);
  samples_ = 0;
}

std::optional<std::size_t> TopState::column(std::string_view name) const noexcept {
  const auto found = std::ranges::find(columns_, name);
  if (found == columns_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns_.begin());
}

double TopState::last(std::string_view name) const noexcept {
  const auto at = column(name);
  return at && !rows_.empty() && *at < rows_.back().values.size() ? rows_.back().values[*at] : 0;
}

double TopState::growth(const Row& from, const Row& to, std::string_view name) const noexcept {
  const auto at = column(name);
  if (!at || *at >= from.values.size() || *at >= to.values.size()) return 0;
  return std::max(0.0, to.values[*at] - from.values[*at]);
}

double TopState::rate(std::string_view name) const noexcept {
  if (rows_.size() < 2) return 0;
  const Row& from = rows_[rows_.size() - 2];
  const double seconds = static_cast<double>(rows_.back().millis - from.millis) / 1e3;
  return seconds > 0 ? growth(from, rows_.back(), name) / seconds : 0;
}

std::optional<double> TopState::mean(std::string_view sum, std::string_view count) const noexcept {
  double sums = 0;
  double counts = 0;
  const std::size_t first = rows_.size() > kMeanRows ? rows_.size() - kMeanRows : 1;
  for (std::size_t i = first; i < rows_.size(); ++i) {
    sums += growth(rows_[i - 1], rows_[i], sum);
    counts += growth(rows_[i - 1], rows_[i], count);
  }
  return counts > 0 ? std::optional(sums / counts) : std::nullopt;
}

std::vector<double> TopState::rates(const std::vector<std::string_view>& names) const {
  std::vector<double> all;
  for (std::size_t i = 1; i < rows_.size(); ++i) {
    const double seconds = static_cast<double>(rows_[i].millis - rows_[i - 1].millis) / 1e3;
    double sum = 0;
    for (const std::string_view name : names) sum += growth(rows_[i - 1], rows_[i], name);
    all.push_back(seconds > 0 ? sum / seconds : 0);
  }
  return all;
}

double TopState::type_rate(const TopType& type) const noexcept {
  const auto before = std::ranges::find(types_before_, type.name, &TopType::name);
  if (before == types_before_.end() || types_seconds_ <= 0) return 0;
  return std::max(0.0, type.dispatched - before->dispatched) / types_seconds_;
}

const TopTypeSettings* TopState::settings(const std::string& type) const noexcept {
  const auto found = settings_.find(type);
  return found == settings_.end() ? nullptr : &found->second;
}

}  // namespace penstock::tool
