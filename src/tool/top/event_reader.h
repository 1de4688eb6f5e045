// Server-sent events out of bytes that come in pieces. Total: what is no event is passed over.
// One thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace penstock::tool {

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

}  // namespace penstock::tool
