// What was typed becomes a request. Pure; safe on any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "engine/http/http_client.h"
#include "tool/calls/call.h"

namespace penstock::tool {

// One entry for each argument of the call, in their order; empty = not given. Of `json` the JSON
// itself, read from its file already.
using Typed = std::vector<std::vector<std::string>>;

// Whether `text` can be the value of an argument; the error's `what` is a predicate.
Result<void> check_value(const Argument& argument, const std::string& text, Instant now);

// Of a complete call. `whole` is the JSON of --body, empty without it.
Result<http::HttpCall> build_request(const Call& call, const Typed& typed, std::string_view whole,
                                     Instant now);

// The type of a body from a file: of a batch by the name of the file, else by how it begins.
std::string_view entries_type(const Call& call, std::string_view file, std::string_view body);

// `text` with each {field} replaced by what was typed for it.
std::string filled(const Call& call, std::string_view text, const Typed& typed);

}  // namespace penstock::tool
