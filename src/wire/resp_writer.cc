#include "wire/resp_writer.h"

#include <algorithm>
#include <charconv>

namespace penstock::wire {

RespWriter& RespWriter::line(char type, std::string_view text) {
  out_ += type;
  const std::size_t from = out_.size();
  out_ += text;
  std::replace_if(
      out_.begin() + static_cast<std::ptrdiff_t>(from), out_.end(),
      [](char c) { return c == '\r' || c == '\n'; }, ' ');
  out_ += "\r\n";
  return *this;
}

RespWriter& RespWriter::number(char type, std::int64_t value) {
  char buffer[24];
  buffer[0] = type;
  char* const end = std::to_chars(buffer + 1, buffer + 22, value).ptr;
  end[0] = '\r';
  end[1] = '\n';
  out_.append(buffer, static_cast<std::size_t>(end + 2 - buffer));
  return *this;
}

RespWriter& RespWriter::bulk(std::string_view bytes) {
  number('$', static_cast<std::int64_t>(bytes.size()));
  out_ += bytes;
  out_ += "\r\n";
  return *this;
}

RespWriter& RespWriter::null() {
  out_ += version_ == RespVersion::v3 ? "_\r\n" : "$-1\r\n";
  return *this;
}

RespWriter& RespWriter::map(std::size_t pairs) {
  if (version_ == RespVersion::v3) return number('%', static_cast<std::int64_t>(pairs));
  return array(2 * pairs);
}

RespWriter& RespWriter::set(std::size_t count) {
  return number(version_ == RespVersion::v3 ? '~' : '*', static_cast<std::int64_t>(count));
}

RespWriter& RespWriter::verbatim(std::string_view text) {
  if (version_ == RespVersion::v2) return bulk(text);
  number('=', static_cast<std::int64_t>(text.size() + 4));
  out_ += "txt:";
  out_ += text;
  out_ += "\r\n";
  return *this;
}

RespWriter& RespWriter::boolean(bool value) {
  if (version_ == RespVersion::v2) return integer(value ? 1 : 0);
  out_ += value ? "#t\r\n" : "#f\r\n";
  return *this;
}

void append_resp_request(std::string& out, std::initializer_list<std::string_view> arguments) {
  RespWriter writer(out, RespVersion::v2);
  writer.array(arguments.size());
  for (const std::string_view argument : arguments) writer.bulk(argument);
}

}  // namespace penstock::wire
