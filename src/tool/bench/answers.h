// Reads the answers of a server off a connection, one after another, as little as a load needs to
// know: what each says, and where it ends. Sans-io; the outcome does not depend on where the bytes
// were cut. One for each connection; one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "wire/http/chunked.h"
#include "wire/resp_reply.h"

namespace penstock::tool::bench {

enum class Protocol : std::uint8_t { http, resp };

// What a RESP answer counts as; an HTTP answer counts as its status. All are below kCodes.
enum : int { kRespAllowed = 1, kRespLimited = 2, kRespError = 3, kRespOther = 4 };
inline constexpr int kCodes = 600;

struct Progress {
  enum class Status : std::uint8_t { need_more, answer, invalid };
  Status status = Status::need_more;
  std::size_t used = 0;  // bytes that are done with; the rest comes again, with more behind
};

class AnswerReader {
 public:
  virtual ~AnswerReader() = default;

  // Takes at most one answer from the front of `bytes`, which may be changed. While anything was
  // used there may be more to read in the rest. After `invalid` nothing can be read any more.
  virtual Progress next(std::span<char> bytes) = 0;

  // Of the last answer.
  int code() const noexcept { return code_; }
  bool closes() const noexcept { return closes_; }               // the server hangs up after it
  std::uint64_t good_entries() const noexcept { return good_; }  // of a batch
  // Why: of an answer that is no decision, as far as it fits into a sentence; of `invalid`.
  const std::string& problem() const noexcept { return problem_; }

 protected:
  int code_ = 0;
  bool closes_ = false;
  std::uint64_t good_ = 0;
  std::string problem_;
};

// Counts where `pattern` occurs in a text that comes in pieces.
class PatternCounter {
 public:
  // `pattern` outlives this. Empty: nothing is counted.
  explicit PatternCounter(std::string_view pattern) noexcept;

  void begin() noexcept { matched_ = count_ = 0; }
  void feed(std::string_view piece) noexcept;
  std::uint64_t count() const noexcept { return count_; }

 private:
  static constexpr std::size_t kPatternBytesMax = 32;

  std::string_view pattern_;
  // Of each beginning of the pattern, the longest part at its end that is a beginning too.
  std::array<std::uint8_t, kPatternBytesMax> borders_{};
  std::size_t matched_ = 0;  // of the pattern, at the end of what was fed
  std::uint64_t count_ = 0;
};

// HTTP/1.1 with Content-Length or the chunked coding.
class HttpAnswers final : public AnswerReader {
 public:
  // `good_pattern` stands once in the body for each entry of a batch that went well.
  explicit HttpAnswers(std::string_view good_pattern) noexcept : good_entries_(good_pattern) {}

  Progress next(std::span<char> bytes) override;

 private:
  static constexpr std::size_t kHeadBytesMax = 16 * 1024;
  static constexpr std::size_t kProblemBytesMax = 512;
  enum class Body : std::uint8_t { none, sized, chunked };

  bool take_head(std::string_view head);
  bool take_header(std::string_view name, std::string_view value);
  Progress take_body(std::span<char> bytes, std::size_t used);
  void see(std::string_view data);
  Progress refuse(std::string_view problem);

  bool in_body_ = false;
  Body body_ = Body::none;
  std::uint64_t left_ = 0;    // of a sized body
  std::size_t scanned_ = 0;   // bytes of the head known to hold no end
  bool length_seen_ = false;  // in this head
  wire::ChunkDecoder chunks_;
  PatternCounter good_entries_;
};

// Replies to CL.THROTTLE. The replies to the first `hello` requests (AUTH) are passed over; one of
// them that is an error is `invalid`.
class RespAnswers final : public AnswerReader {
 public:
  explicit RespAnswers(std::size_t hello) noexcept : hello_(hello) {}

  Progress next(std::span<char> bytes) override;

 private:
  std::size_t hello_;
  wire::RespReplyParser parser_;
};

}  // namespace penstock::tool::bench
