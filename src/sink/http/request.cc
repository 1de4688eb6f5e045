#include "sink/http/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

namespace penstock::sink {
namespace {

bool fits_a_header(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

}  // namespace

RequestWriter::RequestWriter(const wire::HttpUrl& url, std::string_view user_agent,
                             WebhookSigner signer)
    : head_start_(fmt::format("POST {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: {}\r\n"
                              "Content-Type: application/json\r\nAccept: */*\r\n",
                              url.target, url.authority(), user_agent)),
      signer_(std::move(signer)) {}

bool RequestWriter::write(std::string& out, const Handover& item, std::string_view context,
                          Instant now) {
  key_ = item.type.str();
  key_ += ':';
  key_ += item.id.str();
  if (!fits_a_header(key_)) return false;

  body_.clear();
  append_envelope_start(body_, item);

  const fmt::format_int timestamp(
      std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count());
  const std::string_view seconds(timestamp.data(), timestamp.size());
  out = head_start_;
  // Both are the same through retries, claims by another node and redrives: a receiver that keeps
  // one of them does the work once.
  fmt::format_to(std::back_inserter(out),
                 "Idempotency-Key: {0}\r\nwebhook-id: {0}\r\nwebhook-timestamp: {1}\r\n", key_,
                 seconds);
  if (signer_.signs()) {
    out += "webhook-signature: ";
    signer_.append_signatures(out, key_, seconds, {body_, context, kBodyEnd});
    out += "\r\n";
  }
  fmt::format_to(std::back_inserter(out), "Content-Length: {}\r\n\r\n",
                 body_.size() + context.size() + kBodyEnd.size());
  out += body_;
  return true;
}

}  // namespace penstock::sink
