// The requests of a load: one text made beforehand, with fields of fixed width that get new digits
// each time it is sent. Nothing is allocated then. A template is immutable and shared by threads;
// a RequestMaker is one thread's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "engine/http/url.h"

namespace penstock::tool::bench {

struct RequestTemplate {
  static constexpr std::size_t kKeyDigits = 12;  // decimal, as redis-benchmark has them
  static constexpr std::size_t kIdDigits = 16;   // hexadecimal

  enum class Field : std::uint8_t { key, id };
  struct Place {
    std::size_t at = 0;
    Field field = Field::key;
  };

  std::string bytes;
  std::vector<Place> places;
  std::uint64_t entries = 1;         // decisions, events or items that one request asks for
  std::string_view good_entry = {};  // see HttpAnswers; empty for requests that are no batch

  // Puts a field at the end of the text.
  void append(Field field);
};

// What an entry of a batch looks like: `before`, the digits, `after`. JSON.
struct EntryForm {
  std::string before;
  RequestTemplate::Field field = RequestTemplate::Field::key;
  bool has_field = true;  // else it is the same each time
  std::string after;
};

struct HttpForm {
  std::string target;        // of one
  std::string batch_target;  // of several
  std::string_view good_entry;
  EntryForm entry;
};

// POST, to `url` with `token` if it has any. `batch` 1 asks for one entry by `target`, more by
// `batch_target` in an array.
RequestTemplate http_requests(const HttpForm& form, std::uint64_t batch, const http::Url& url,
                              std::string_view token);

// CL.THROTTLE <before><digits> <numbers…>; without digits when `has_field` is false.
struct RespForm {
  std::string key;
  bool has_field = true;
  std::vector<std::string> numbers;  // burst, count, period, quantity
};
RequestTemplate resp_requests(const RespForm& form);

// Texts of JSON, as entries want them.
std::string json_text(std::string_view text);       // with quotes
std::string json_text_open(std::string_view text);  // without the closing one

// Writes requests: keys at random, ids each once.
class RequestMaker {
 public:
  // `form` outlives this. `keys` > 0. Makers of one run differ in `thread`.
  RequestMaker(const RequestTemplate& form, std::uint64_t keys, std::uint64_t seed,
               std::uint64_t thread) noexcept
      : form_(form), keys_(keys), rng_(mix64(seed) + thread), next_id_(thread << 40) {}

  void append_to(std::string& out);

 private:
  const RequestTemplate& form_;
  const std::uint64_t keys_;
  Rng rng_;
  std::uint64_t next_id_;  // 2^40 for each thread: more than a run may send
};

}  // namespace penstock::tool::bench
