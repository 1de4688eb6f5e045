// The one table from error kinds to status codes, and the JSON body every error has:
// {status, error, message, timestamp, requestId} and `field` where one is at fault.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "wire/http/message.h"

namespace penstock::wire {

int status_of(ErrorKind kind) noexcept;
std::string_view reason_of(int status) noexcept;  // "Not Found"

// 429 and 503 carry Retry-After (whole seconds, rounded up, at least 1).
Response error_response(const Error& error, std::string_view request_id, Instant now);
Response error_response(int status, std::string_view message, std::string_view request_id,
                        Instant now);

}  // namespace penstock::wire
