// Replies of the Redis protocol, appended to a string: version 2, or 3 where the two differ.
// Requests too, for a client. Plain functions on the caller's memory; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace penstock::wire {

enum class RespVersion : std::uint8_t { v2 = 2, v3 = 3 };

class RespWriter {
 public:
  // `out` outlives this.
  RespWriter(std::string& out, RespVersion version) noexcept : out_(out), version_(version) {}

  // What is written from now on.
  void use(RespVersion version) noexcept { version_ = version; }

  // CR and LF in the text of these two become blanks: they would end it.
  RespWriter& simple(std::string_view text) { return line('+', text); }
  RespWriter& error(std::string_view text) { return line('-', text); }
  RespWriter& integer(std::int64_t value) { return number(':', value); }
  RespWriter& bulk(std::string_view bytes);
  RespWriter& null();
  // So many values follow; for a map so many pairs, which version 2 gets as a flat array.
  RespWriter& array(std::size_t count) { return number('*', static_cast<std::int64_t>(count)); }
  RespWriter& map(std::size_t pairs);
  RespWriter& set(std::size_t count);
  // Text for people.
  RespWriter& verbatim(std::string_view text);
  RespWriter& boolean(bool value);

 private:
  RespWriter& line(char type, std::string_view text);
  RespWriter& number(char type, std::int64_t value);

  std::string& out_;
  RespVersion version_;
};

// A request: an array of bulk strings.
void append_resp_request(std::string& out, std::initializer_list<std::string_view> arguments);

}  // namespace penstock::wire
