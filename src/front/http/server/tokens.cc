#include "front/http/server/tokens.h"

#include <openssl/crypto.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/check.h"

namespace penstock::front {
namespace {

// The token of `Bearer <token>`; empty when the header is anything else.
std::string_view bearer_token(std::string_view authorization) noexcept {
  constexpr std::string_view kScheme = "bearer ";
  if (!ascii_equal(authorization.substr(0, kScheme.size()), kScheme)) return {};
  authorization.remove_prefix(kScheme.size());
  const std::size_t start = authorization.find_first_not_of(' ');
  return start == authorization.npos ? std::string_view{} : authorization.substr(start);
}

}  // namespace

TokenGate::Secret::Secret(std::string_view token) noexcept : size(token.size()) {
  PENSTOCK_CHECK(token.size() <= kTokenBytesMax);
  std::ranges::copy(token, bytes.begin());
}

bool TokenGate::Secret::matches(std::string_view token) const noexcept {
  std::array<char, kTokenBytesMax> given{};
  std::ranges::copy(token.substr(0, kTokenBytesMax), given.begin());
  const int differs = CRYPTO_memcmp(given.data(), bytes.data(), bytes.size());
  return static_cast<int>(differs == 0) & static_cast<int>(size != 0) &
         static_cast<int>(token.size() == size);
}

TokenGate::TokenGate(const HttpTokens& tokens) noexcept
    : admin_(tokens.admin),
      api_(tokens.api),
      open_routes_need_token_(tokens.open_routes_need_token) {}

bool TokenGate::guards(Access access) const noexcept {
  switch (access) {
    case Access::everyone:
    case Access::admin:
      return admin_.size != 0;
    case Access::open:
      return open_routes_need_token_;
    case Access::api:
      break;
  }
  return api_.size != 0;
}

bool TokenGate::opens(Access access, std::string_view authorization) const noexcept {
  if (access == Access::everyone || !guards(access)) return true;
  return opens(access, kind_of(authorization));
}

std::optional<SecretKind> TokenGate::kind_of(std::string_view authorization) const noexcept {
  const std::string_view token = bearer_token(authorization);
  if (token.empty()) return std::nullopt;
  // Both are compared whatever the first one gave.
  const bool is_admin = admin_.matches(token);
  const bool is_api = api_.matches(token);
  return is_admin ? SecretKind::admin_token : is_api ? SecretKind::api_token : SecretKind::wrong;
}

std::string_view TokenGate::name_of(std::string_view authorization) const noexcept {
  const std::optional<SecretKind> kind = kind_of(authorization);
  if (kind == SecretKind::admin_token) return "admin";
  return kind == SecretKind::api_token ? "api" : "anonymous";
}

}  // namespace penstock::front
