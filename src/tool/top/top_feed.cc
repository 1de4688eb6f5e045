#include "tool/top/top_feed.h"

#include <algorithm>
#include <utility>

#include "engine/http/answer.h"
#include "runtime/clocks.h"
#include "runtime/threads.h"
#include "wire/json.h"

namespace penstock::tool {

bool EventReader::feed(std::string_view bytes, const See& see) {
  rest_ += bytes;
  std::size_t at = 0;
  for (;;) {
    const std::size_t end = rest_.find("\n\n", std::max(at, scanned_));
    if (end == rest_.npos) break;
    read(std::string_view(rest_).substr(at, end - at), see);
    at = scanned_ = end + 2;
  }
  rest_.erase(0, at);
  scanned_ = rest_.empty() ? 0 : rest_.size() - 1;  // half of an end may be there
  if (rest_.size() <= kEventBytesMax) return true;
  rest_.clear();
  scanned_ = 0;
  return false;
}

void EventReader::read(std::string_view block, const See& see) {
  std::string_view name = "message";
  std::string data;
  bool any = false;
  while (!block.empty()) {
    const std::size_t end = std::min(block.find('\n'), block.size());
    std::string_view line = block.substr(0, end);
    block.remove_prefix(std::min(end + 1, block.size()));
    const std::size_t colon = std::min(line.find(':'), line.size());
    const std::string_view field = line.substr(0, colon);
    line.remove_prefix(std::min(colon + 1, line.size()));
    if (line.starts_with(' ')) line.remove_prefix(1);
    if (field == "event") name = line;
    if (field != "data") continue;
    if (any) data += '\n';
    data += line;
    any = true;
  }
  if (any) see(name, data);
}

namespace {

constexpr Millis kRetryAfter{1'000};
constexpr Millis kAskEvery{2'000};
constexpr std::size_t kSummariesMax = 20;  // more types than a screen has lines for, mostly
constexpr std::size_t kNewsMax = 1'000;    // a viewer that stands still loses the oldest
constexpr Millis kStep{20};                // how soon a pause can be ended

}  // namespace

TopFeed::TopFeed(http::HttpClientOptions options) : options_(std::move(options)) {
  follower_ = std::thread([this] { follow(); });
  asker_ = std::thread([this] { ask(); });
}

TopFeed::~TopFeed() {
  stopped_ = true;
  follower_.join();
  asker_.join();
}

std::vector<TopNews> TopFeed::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, {});
}

void TopFeed::add(TopNews news) {
  const std::lock_guard lock(mutex_);
  if (news_.size() == kNewsMax) news_.erase(news_.begin());
  news_.push_back(std::move(news));
}

void TopFeed::pause(Millis time) const {
  const runtime::Stopwatch watch;
  while (!stopped_ && watch.seconds() * 1e3 < static_cast<double>(time.count())) {
    std::this_thread::sleep_for(kStep);
  }
}

void TopFeed::follow() {
  runtime::set_thread_name("top-stream");
  while (!stopped_) {
    const Result<std::unique_ptr<http::HttpClient>> client = http::HttpClient::make(options_);
    if (!client) return add({.kind = TopNews::Kind::refused, .text = client.error().what});
    EventReader reader;
    const Result<http::HttpAnswer> answer = (*client)->stream(
        {.target = "/admin/events"},
        [&](std::string_view bytes) {
          reader.feed(bytes, [this](std::string_view name, std::string_view data) {
            add({.name = std::string(name), .text = std::string(data)});
          });
        },
        [this] { return stopped_.load(); });
    if (stopped_) return;
    if (!answer) {
      add({.kind = TopNews::Kind::lost, .text = answer.error().what});
    } else {
      // 503: too many viewers, or it is stopping; that passes.
      const bool passes = answer->status >= 500;
      add({.kind = passes ? TopNews::Kind::lost : TopNews::Kind::refused,
           .text = http::error_sentence(*answer)});
    }
    pause(kRetryAfter);
  }
}

void TopFeed::ask() {
  runtime::set_thread_name("top-types");
  const Result<std::unique_ptr<http::HttpClient>> client = http::HttpClient::make(options_);
  if (!client) return;
  while (!stopped_) {
    ask_once(**client);
    asked_types_ = true;
    pause(kAskEvery);
  }
}

// What goes wrong here goes wrong on the stream too, which says so.
void TopFeed::ask_once(http::HttpClient& client) {
  const Result<http::HttpAnswer> types = client.call({.target = "/admin/dispatch/types"});
  if (!types || types->status != 200) return;
  add({.kind = TopNews::Kind::types, .text = types->body});
  const Result<wire::JsonDocument> document = wire::parse_json(types->body);
  if (!document || document->root().type() != wire::JsonType::array) return;
  std::size_t asked = 0;
  for (wire::JsonValue each = document->root().first(); each && asked < kSummariesMax && !stopped_;
       each = each.next(), ++asked) {
    const wire::JsonValue name =
        each.type() == wire::JsonType::object ? each.find("itemType") : wire::JsonValue(each);
    if (!name || name.type() != wire::JsonType::string) continue;
    const Result<http::HttpAnswer> summary = client.call(
        {.target = "/api/v1/dispatch/" + http::percent_encoded(name.string()) + "/summary"});
    if (!summary) return;
    if (summary->status == 200) add({.kind = TopNews::Kind::summary, .text = summary->body});
  }
}

}  // namespace penstock::tool
