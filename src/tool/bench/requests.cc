#include "tool/bench/requests.h"

#include <fmt/format.h>

#include "wire/json.h"

namespace penstock::tool::bench {
namespace {

void put_decimal(char* at, std::uint64_t number) noexcept {
  for (std::size_t i = RequestTemplate::kKeyDigits; i-- > 0; number /= 10) {
    at[i] = static_cast<char>('0' + number % 10);
  }
}

void put_hexadecimal(char* at, std::uint64_t number) noexcept {
  for (std::size_t i = RequestTemplate::kIdDigits; i-- > 0; number >>= 4) {
    at[i] = "0123456789abcdef"[number & 15];
  }
}

void append_entry(RequestTemplate& to, const EntryForm& entry) {
  to.bytes += entry.before;
  if (entry.has_field) to.append(entry.field);
  to.bytes += entry.after;
}

}  // namespace

void RequestTemplate::append(Field field) {
  places.push_back({bytes.size(), field});
  bytes.append(field == Field::key ? kKeyDigits : kIdDigits, '0');
}

RequestTemplate http_requests(const HttpForm& form, std::uint64_t batch, const http::Url& url,
                              std::string_view token) {
  RequestTemplate body;
  if (batch > 1) body.bytes = "[";
  for (std::uint64_t i = 0; i < batch; ++i) {
    if (i > 0) body.bytes += ',';
    append_entry(body, form.entry);
  }
  if (batch > 1) body.bytes += ']';

  RequestTemplate request;
  request.bytes = fmt::format("POST {}{} HTTP/1.1\r\nHost: {}\r\n", url.base_path,
                              batch > 1 ? form.batch_target : form.target, url.authority());
  if (!token.empty()) request.bytes += fmt::format("Authorization: Bearer {}\r\n", token);
  request.bytes += fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                               body.bytes.size());
  for (RequestTemplate::Place place : body.places) {
    place.at += request.bytes.size();
    request.places.push_back(place);
  }
  request.bytes += body.bytes;
  request.entries = batch;
  if (batch > 1) request.good_entry = form.good_entry;
  return request;
}

RequestTemplate resp_requests(const RespForm& form) {
  RequestTemplate request;
  const std::size_t key_bytes =
      form.key.size() + (form.has_field ? RequestTemplate::kKeyDigits : 0);
  request.bytes = fmt::format("*{}\r\n$11\r\nCL.THROTTLE\r\n${}\r\n{}", 2 + form.numbers.size(),
                              key_bytes, form.key);
  if (form.has_field) request.append(RequestTemplate::Field::key);
  request.bytes += "\r\n";
  for (const std::string& number : form.numbers) {
    request.bytes += fmt::format("${}\r\n{}\r\n", number.size(), number);
  }
  return request;
}

std::string json_text(std::string_view text) {
  std::string out;
  wire::append_json_string(out, text);
  return out;
}

std::string json_text_open(std::string_view text) {
  std::string out = json_text(text);
  out.pop_back();
  return out;
}

void RequestMaker::append_to(std::string& out) {
  const std::size_t start = out.size();
  out += form_.bytes;
  for (const RequestTemplate::Place& place : form_.places) {
    char* const at = out.data() + start + place.at;
    if (place.field == RequestTemplate::Field::key) {
      put_decimal(at, rng_.below(keys_));
    } else {
      put_hexadecimal(at, mix64(next_id_++));  // a bijection: spread, and none twice
    }
  }
}

}  // namespace penstock::tool::bench
