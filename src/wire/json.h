// JSON, read strictly and written plainly.
//
// parse_json is total: any bytes give a document or an error that says where. Strict RFC 8259 over
// valid UTF-8; a key twice in one object is an error; depth and value count are bounded, so hostile
// input costs at most memory proportional to its size. Values are views into the text that was
// parsed, which must outlive the document; numbers and whole subtrees keep their exact text, so
// that decimals stay exact and a caller's JSON can be passed on untouched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace penstock::wire {

inline constexpr std::size_t kJsonDepthMax = 64;  // no request of the API nests deeper than 5
// Values in one document: 64 MB of nodes at most, where 16 MiB of `1,1,1,…` would else take 530 MB.
// A batch of 10,000 entries has about 100 for each.
inline constexpr std::size_t kJsonValuesMax = std::size_t{1} << 20;

enum class JsonType : std::uint8_t { null, boolean, number, string, array, object };

std::string_view to_string(JsonType type) noexcept;

class JsonDocument;

// One value of a document. Cheap to copy; valid while the document and its text live.
class JsonValue {
 public:
  JsonType type() const noexcept;
  bool is_null() const noexcept { return type() == JsonType::null; }
  bool boolean() const noexcept;             // of a boolean
  std::string_view string() const noexcept;  // of a string, unescaped
  std::string_view raw() const noexcept;     // the exact text, white space inside kept

  // A whole number without fraction or exponent that fits; empty for any other number.
  std::optional<std::int64_t> integer() const noexcept;

  std::size_t size() const noexcept;  // elements of an array, members of an object

  // Children in order: for (JsonValue v = array.first(); v; v = v.next()). Members of an object
  // also have a key.
  JsonValue first() const noexcept;
  JsonValue next() const noexcept;
  std::string_view key() const noexcept;
  JsonValue find(std::string_view key) const noexcept;  // member of an object; false when absent

  explicit operator bool() const noexcept { return document_ != nullptr; }

 private:
  friend class JsonDocument;
  JsonValue() = default;
  JsonValue(const JsonDocument* document, std::uint32_t node, std::uint32_t end) noexcept
      : document_(document), node_(node), end_(end) {}

  const JsonDocument* document_ = nullptr;
  std::uint32_t node_ = 0;
  std::uint32_t end_ = 0;  // first node after the parent's last child
};

class JsonDocument {
 public:
  JsonValue root() const noexcept;

 private:
  friend class JsonValue;
  friend class JsonParser;

  // Preorder; a container's descendants follow it, `after` is the first node past them.
  struct Node {
    JsonType type = JsonType::null;
    bool truth = false;
    std::uint32_t after = 0;
    std::uint32_t count = 0;
    std::string_view raw;
    std::string_view text;  // unescaped string
    std::string_view key;   // unescaped, of an object's member
  };

  std::vector<Node> nodes_;
  std::vector<std::unique_ptr<char[]>> unescaped_;  // texts that could not be views of the input
};

// `what` of an error says what was expected and at which byte. `too_large` past kJsonValuesMax,
// else `invalid`.
Result<JsonDocument> parse_json(std::string_view text);

// Appends `text` as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);

// Writes compact JSON into a string it owns. The caller keeps begin/end balanced.
class JsonWriter {
 public:
  explicit JsonWriter(std::size_t reserve = 256) { out_.reserve(reserve); }

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }

  // `name` must need no escapes: keys are ours.
  JsonWriter& key(std::string_view name);

  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(std::int64_t number);
  JsonWriter& value(int number) { return value(static_cast<std::int64_t>(number)); }
  JsonWriter& value(bool truth);
  JsonWriter& value(Instant instant);
  JsonWriter& null();
  JsonWriter& raw(std::string_view json);  // already JSON

  template <class T>
  JsonWriter& member(std::string_view name, const T& v) {
    return key(name).value(v);
  }

  std::string take() && { return std::move(out_); }
  const std::string& str() const noexcept { return out_; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();

  std::string out_;
  bool comma_ = false;  // the next element needs one before it
};

}  // namespace penstock::wire
