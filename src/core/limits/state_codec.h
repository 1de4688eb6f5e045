// A LimitState as bytes, for stores that outlive the process. Version 1: a version byte, a type
// byte, then LEB128 numbers. Total: any bytes give a state or `corrupt`. Pure; safe on any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/limits/state.h"

namespace penstock::core {

void encode_state(const LimitState& state, std::string& out);  // appends
Result<LimitState> decode_state(std::string_view bytes);

void put_number(std::uint64_t number, std::string& out);
// Takes a number off the front of `bytes`; empty when there is none.
std::optional<std::uint64_t> take_number(std::string_view& bytes) noexcept;

}  // namespace penstock::core
