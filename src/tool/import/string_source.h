// A ByteSource over a string, in small pieces, for tests.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "tool/import/text_input.h"

namespace penstock::tool {

class StringSource final : public ByteSource {
 public:
  StringSource(std::string text, std::size_t piece) : text_(std::move(text)), piece_(piece) {}

  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t n = std::min({into.size(), piece_, text_.size() - used_});
    std::memcpy(into.data(), text_.data() + used_, n);
    used_ += n;
    return n;
  }

 private:
  const std::string text_;
  const std::size_t piece_;
  std::size_t used_ = 0;
};

inline TextInput input_of(std::string text, std::size_t piece = 7) {
  return TextInput(std::make_unique<StringSource>(std::move(text), piece));
}

}  // namespace penstock::tool
