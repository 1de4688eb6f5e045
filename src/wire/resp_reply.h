// Replies of the Redis protocol, versions 2 and 3, as a client reads them. Incremental and total:
// any bytes give a reply, "need more" or `invalid`, the same ones wherever the input is cut. One
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/resp_writer.h"

namespace penstock::wire {

enum class RespType : std::uint8_t {
  simple,  // and big numbers, whose text is kept
  error,   // simple or bulk
  integer,
  number,  // a double, as text
  boolean,
  null,
  bulk,  // a verbatim string too, without its "txt:"
  array,
  set,
  map,   // key, value, key, value
  push,  // out of turn
};

// One value. The values of a reply stand in one row, each before those inside it.
struct RespValue {
  RespType type = RespType::null;
  std::int64_t integer = 0;  // of integer and boolean; of the aggregates, values directly inside
  std::string_view text;     // of simple, error, number and bulk
  std::size_t next = 1;      // values to the next one beside it: itself and all inside

  bool is_aggregate() const noexcept { return type >= RespType::array; }
};

struct RespReplyLimits {
  std::size_t bytes = 64 * 1024 * 1024;  // of one reply
  std::size_t values = 1'000'000;
  std::size_t depth = 32;  // Redis nests scripts' replies this deep at most
};

class RespReplyParser {
 public:
  enum class Status : std::uint8_t { reply, need_more, invalid };

  explicit RespReplyParser(RespReplyLimits limits = {}) noexcept : limits_(limits) {}

  // Takes one reply from the front of `bytes`, which begin where the last one ended. After
  // need_more, comes again with the same bytes and more behind them; only what is new is looked at.
  // Attributes are read past.
  Status parse(std::string_view bytes);

  // Of a reply, until the next call: views of `bytes`. The first value is the reply itself.
  std::span<const RespValue> values() const noexcept { return values_; }
  std::size_t consumed() const noexcept { return at_; }
  std::string_view problem() const noexcept { return problem_; }

 private:
  struct Slice {
    std::size_t at = 0;
    std::size_t size = 0;
  };
  struct Open {         // an aggregate that is not complete
    std::size_t index;  // in values_
    std::size_t left;   // values still to come
    bool attribute;     // about the value that follows, which it does not count as
  };
  enum class Step : std::uint8_t { taken, need_more, invalid };

  void begin() noexcept;
  Status invalid(std::string_view problem) noexcept;
  Step take_value(std::string_view bytes);
  Step take_bulk(std::string_view bytes, std::string_view header, std::size_t body, char type);
  Step take_aggregate(std::string_view header, std::size_t body, char type);
  Step add(RespValue value, Slice text, std::size_t end);
  void close_complete() noexcept;

  const RespReplyLimits limits_;
  std::vector<RespValue> values_;
  std::vector<Slice> texts_;  // of the values, until the reply is complete
  std::vector<Open> open_;
  std::size_t at_ = 0;
  std::size_t scanned_ = 0;  // bytes after at_ known to hold no line end
  bool done_ = false;
  bool failed_ = false;
  std::string_view problem_;
};

}  // namespace penstock::wire
