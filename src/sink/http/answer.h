// Reads an HTTP answer as it comes and keeps of it what matters: status, Retry-After, and whether
// the connection can be used again. Touches no socket; one thread. The body is read past.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/time.h"
#include "sink/sink.h"

namespace penstock::sink {

// 16 KiB hold any sensible head; a body is of no use here, and up to 64 KiB reading it is cheaper
// than a new connection.
inline constexpr std::size_t kAnswerHeadBytesMax = 16 * 1024;
inline constexpr std::size_t kAnswerBodyBytesMax = 64 * 1024;

class AnswerReader {
 public:
  enum class State : std::uint8_t { need_more, complete, broken };

  AnswerReader();
  ~AnswerReader();
  AnswerReader(const AnswerReader&) = delete;
  AnswerReader& operator=(const AnswerReader&) = delete;

  // Ready for the next answer.
  void restart();

  struct Progress {
    State state;
    std::size_t read;  // bytes used; the rest comes again, with more behind it
  };
  Progress read(std::string_view bytes);

  bool has_begun() const noexcept { return has_begun_; }
  // The head is complete, so the status stands, whatever becomes of the body.
  bool has_status() const noexcept;
  int status() const noexcept;
  std::string_view retry_after() const noexcept;  // empty when absent
  bool keeps_alive() const noexcept;              // of a complete answer

 private:
  class Parser;

  std::unique_ptr<Parser> parser_;
  bool has_begun_ = false;
  int interim_answers_ = 0;
};

// What an HTTP answer means for the item; the one table from status codes to outcomes.
// `retry_after` is the header's value, empty when absent. 2xx done; 429, and 503 that says when to
// come back, slow down; 408, 425, other 5xx, 3xx and what is no final status fail; other 4xx
// refuse.
SinkAnswer judge_answer(int status, std::string_view retry_after, Instant now);

}  // namespace penstock::sink
