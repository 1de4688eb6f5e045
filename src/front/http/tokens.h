// Which bearer token opens which routes. Immutable after construction; safe on any thread.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "front/http/http.h"

namespace penstock::front {

struct HttpTokens {
  std::string admin;  // empty = none
  std::string api;    // empty = none
  bool open_routes_need_token = false;
};

inline constexpr std::size_t kTokenBytesMax = 512;  // longer ones never match

class TokenGate {
 public:
  explicit TokenGate(const HttpTokens& tokens) noexcept;

  // `authorization` is the header's value, empty when absent. Takes the same time for every token
  // of one length, whether and where it differs from ours.
  bool opens(Access access, std::string_view authorization) const noexcept;

 private:
  // Zero-padded, so that comparing says nothing about the length either.
  struct Secret {
    explicit Secret(std::string_view token) noexcept;
    bool matches(std::string_view token) const noexcept;

    std::array<char, kTokenBytesMax> bytes{};
    std::size_t size = 0;  // 0 = none
  };

  const Secret admin_;
  const Secret api_;
  const bool open_routes_need_token_;
};

}  // namespace penstock::front
