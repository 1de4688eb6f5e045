#include "engine/redis/connection.h"

#include <cstring>
#include <utility>

#include "wire/resp_writer.h"

namespace penstock::store::redis {

Reply::Reply(std::string_view bytes, std::span<const wire::RespValue> values)
    : bytes_(new char[bytes.size()]), values_(values.begin(), values.end()) {
  std::memcpy(bytes_.get(), bytes.data(), bytes.size());
  for (wire::RespValue& value : values_) {
    if (value.text.empty()) continue;
    value.text = {bytes_.get() + (value.text.data() - bytes.data()), value.text.size()};
  }
}

std::span<const wire::RespValue> Reply::flat() const noexcept {
  if (!top().is_aggregate() || values_.size() != static_cast<std::size_t>(top().integer) + 1) {
    return {};
  }
  return std::span(values_).subspan(1);
}

ClientResult<std::unique_ptr<Connection>> Connection::open(const ConnectOptions& options,
                                                           const Endpoint& endpoint,
                                                           const runtime::Deadline& deadline) {
  auto stream = PENSTOCK_TRY(Stream::connect(endpoint, options.tls.get(), deadline));
  std::unique_ptr<Connection> connection(new Connection(std::move(stream)));
  if (ClientResult<void> ready = connection->greet(options, deadline); !ready) {
    // Nothing of the caller's was sent yet.
    return std::unexpected(ClientError{.error = std::move(ready.error().error)});
  }
  return connection;
}

ClientResult<void> Connection::greet(const ConnectOptions& options,
                                     const runtime::Deadline& deadline) {
  std::string requests;
  int replies = 0;
  if (!options.password.empty()) {
    if (options.user.empty()) {
      wire::append_resp_request(requests, {"AUTH", options.password});
    } else {
      wire::append_resp_request(requests, {"AUTH", options.user, options.password});
    }
    ++replies;
  }
  if (options.database != 0) {
    wire::append_resp_request(requests, {"SELECT", std::to_string(options.database)});
    ++replies;
  }
  PENSTOCK_TRY(send(requests, deadline));
  for (; replies > 0; --replies) {
    const Reply reply = PENSTOCK_TRY(receive(deadline));
    if (reply.is_error()) {
      return std::unexpected(ClientError{.error = translate(reply.top().text).error});
    }
  }
  return {};
}

ClientResult<void> Connection::send(std::string_view requests, const runtime::Deadline& deadline) {
  ClientResult<void> sent = stream_->send(requests, deadline);
  if (!sent) broken_ = true;
  return sent;
}

ClientResult<Reply> Connection::receive(const runtime::Deadline& deadline) {
  using Status = wire::RespReplyParser::Status;
  for (;;) {
    const std::string_view rest = std::string_view(buffer_).substr(start_);
    const Status status = parser_.parse(rest);
    if (status == Status::reply) {
      Reply reply(rest.substr(0, parser_.consumed()), parser_.values());
      start_ += parser_.consumed();
      if (start_ == buffer_.size()) {
        buffer_.clear();
        start_ = 0;
      }
      return reply;
    }
    if (status == Status::invalid) {
      broken_ = true;
      return connection_lost(stream_->endpoint(), parser_.problem());
    }
    if (ClientResult<void> more = stream_->receive(buffer_, deadline); !more) {
      broken_ = true;
      return std::unexpected(std::move(more.error()));
    }
  }
}

}  // namespace penstock::store::redis
