#include "tool/top/event_reader.h"

#include <algorithm>

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

}  // namespace penstock::tool
