// Which bearer token opens which routes. Immutable after construction; safe on any thread.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "front/guesses.h"
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

  // Whether the routes of that access need a token at all. What everyone may see holds no data, and
  // counts as guarded where the data is.
  bool guards(Access access) const noexcept;

  // `authorization` is the header's value, empty when absent. Takes the same time for every token
  // of one length, whether and where it differs from ours.
  bool opens(Access access, std::string_view authorization) const noexcept;
  // The same, of a route that is guarded and not for everyone.
  static bool opens(Access access, std::optional<SecretKind> token) noexcept {
    return token == SecretKind::admin_token ||
           (token == SecretKind::api_token && access != Access::admin);
  }

  // What the token is, in the same time too. Nothing: the header has none.
  std::optional<SecretKind> kind_of(std::string_view authorization) const noexcept;
  // Whose token it is: "admin", "api" or "anonymous".
  std::string_view name_of(std::string_view authorization) const noexcept;
  // Whether a route that needs a scope is open to that name.
  bool has_scope(std::string_view name) const noexcept {
    return name == "admin" || (admin_.size == 0 && api_.size == 0);
  }

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
