// Brings what a daemon says to `penstock top`: one thread follows its live stream, another asks
// every few seconds what the stream does not tell. Comes back by itself when the daemon does.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/http/http_client.h"

namespace penstock::tool {

// Server-sent events out of bytes that come in pieces. Total: what is no event is passed over.
// One thread.
class EventReader {
 public:
  // An hour of history has about 100 KiB. False: an event was longer, and is given up on.
  static constexpr std::size_t kEventBytesMax = 8 * 1024 * 1024;

  using See = std::function<void(std::string_view name, std::string_view data)>;
  bool feed(std::string_view bytes, const See& see);

 private:
  static void read(std::string_view block, const See& see);

  std::string rest_;
  std::size_t scanned_ = 0;  // of rest_, without an end
};

struct TopNews {
  enum class Kind : std::uint8_t {
    event,    // name and text: of the stream
    types,    // text: the settings of the item types
    summary,  // text: of one of them
    lost,     // text: why the daemon cannot be seen just now
    refused,  // text: what it says to us; it is there, and says no
  };
  Kind kind = Kind::event;
  std::string name = {};
  std::string text = {};
};

class TopFeed {
 public:
  // `options` are good for a client. Both threads start at once.
  explicit TopFeed(http::HttpClientOptions options);
  ~TopFeed();
  TopFeed(const TopFeed&) = delete;
  TopFeed& operator=(const TopFeed&) = delete;

  // What came since the last call, in order.
  std::vector<TopNews> take();
  // Whether the item types were asked for, well or not.
  bool asked_types() const noexcept { return asked_types_.load(); }

 private:
  void follow();
  void ask();
  void ask_once(http::HttpClient& client);
  void add(TopNews news);
  void pause(Millis time) const;

  const http::HttpClientOptions options_;
  std::atomic<bool> stopped_ = false;
  std::atomic<bool> asked_types_ = false;
  std::mutex mutex_;
  std::vector<TopNews> news_;  // guarded by mutex_
  std::thread follower_;
  std::thread asker_;
};

}  // namespace penstock::tool
