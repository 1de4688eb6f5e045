// One connection to one Redis: requests out, replies in, in step. After a failure it is broken and
// of no more use, since late replies would be taken for those of other requests. One thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/redis/stream.h"
#include "wire/resp_reply.h"

namespace penstock::store::redis {

// One reply with the bytes it is made of.
class Reply {
 public:
  Reply() : values_(1) {}
  // `values` are views of `bytes`.
  Reply(std::string_view bytes, std::span<const wire::RespValue> values);
  Reply(Reply&&) noexcept = default;
  Reply& operator=(Reply&&) noexcept = default;

  const wire::RespValue& top() const noexcept { return values_.front(); }
  std::span<const wire::RespValue> values() const noexcept { return values_; }
  bool is_error() const noexcept { return top().type == wire::RespType::error; }
  // The values directly inside of an array whose values have nothing inside themselves; else empty.
  std::span<const wire::RespValue> flat() const noexcept;

 private:
  std::unique_ptr<char[]> bytes_;  // stays where it is when the reply moves
  std::vector<wire::RespValue> values_;
};

struct ConnectOptions {
  std::string user = {};
  std::string password = {};
  int database = 0;
  std::shared_ptr<const TlsContext> tls = nullptr;  // null = plain
};

class Connection {
 public:
  // Connected, authenticated and on its database.
  static ClientResult<std::unique_ptr<Connection>> open(const ConnectOptions& options,
                                                        const Endpoint& endpoint,
                                                        const runtime::Deadline& deadline);

  ClientResult<void> send(std::string_view requests, const runtime::Deadline& deadline);
  // The next reply, errors of the server among them.
  ClientResult<Reply> receive(const runtime::Deadline& deadline);

  bool broken() const noexcept { return broken_; }
  bool still_open() const noexcept { return !broken_ && stream_->still_open(); }

 private:
  explicit Connection(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) {}
  ClientResult<void> greet(const ConnectOptions& options, const runtime::Deadline& deadline);

  std::unique_ptr<Stream> stream_;
  wire::RespReplyParser parser_;
  std::string buffer_;
  std::size_t start_ = 0;  // of what is not yet taken from buffer_
  bool broken_ = false;
};

}  // namespace penstock::store::redis
