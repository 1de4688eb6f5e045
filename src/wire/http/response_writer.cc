#include "wire/http/response_writer.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>

#include <fmt/format.h>

#include "wire/http/errors.h"

namespace penstock::wire {
namespace {

constexpr std::string_view kApiLines =
    "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n";

void append_number(std::string& out, std::size_t number) {
  char digits[20];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
  out.append(digits, end);
}

void append_clean(std::string& out, std::string_view text) {
  const std::size_t start = out.size();
  out.append(text);
  std::replace_if(
      out.begin() + static_cast<std::ptrdiff_t>(start), out.end(),
      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; }, ' ');
}

void append_status_line(std::string& out, int status) {
  if (status == 200) {
    out += "HTTP/1.1 200 OK\r\n";
    return;
  }
  out += "HTTP/1.1 ";
  append_number(out, static_cast<std::size_t>(status));
  out += ' ';
  out += reason_of(status);
  out += "\r\n";
}

}  // namespace

std::string_view DateLine::at(Instant now) {
  const auto second = std::chrono::floor<Seconds>(now.time_since_epoch());
  if (second == second_) return line_;
  second_ = second;
  static constexpr std::string_view kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::chrono::sys_seconds at{second};
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{at - day};
  line_ =
      fmt::format("Date: {}, {:02} {} {:04} {:02}:{:02}:{:02} GMT\r\n",
                  kDays[std::chrono::weekday{day}.c_encoding()], static_cast<unsigned>(date.day()),
                  kMonths[static_cast<unsigned>(date.month()) - 1], static_cast<int>(date.year()),
                  time.hours().count(), time.minutes().count(), time.seconds().count());
  return line_;
}

void append_response(std::string& out, const Response& response, const ResponseLine& line) {
  const bool bodiless = response.status == 204 || response.status == 304 || response.status < 200;
  append_status_line(out, response.status);
  out += line.date_line;
  if (!bodiless) {
    // Nothing is no JSON, but it may be a text or a list of lines.
    const bool typed = !response.body.empty() || response.content_type != "application/json";
    if (typed || line.until_close) {
      out += "Content-Type: ";
      out += response.content_type;
      out += "\r\n";
    }
    if (!line.until_close) {
      out += "Content-Length: ";
      append_number(out, response.body.size());
      out += "\r\n";
    }
  }
  out += "X-Request-Id: ";
  out += line.request_id;
  out += "\r\n";
  for (const auto& [name, value] : response.headers) {
    append_clean(out, name);
    out += ": ";
    append_clean(out, value);
    out += "\r\n";
  }
  out += response.header_lines;
  if (!response.sets_caching) out += kApiLines;
  if (!line.keep_alive) {
    out += "Connection: close\r\n";
  } else if (!line.http11) {
    out += "Connection: keep-alive\r\n";
  }
  out += "\r\n";
  if (!bodiless && !line.head_only) out += response.body;
}

}  // namespace penstock::wire
