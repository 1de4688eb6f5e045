// An answer of the daemon in words for people. Pure; safe on any thread.
#pragma once

#include <string>

#include "engine/http/http_client.h"

namespace penstock::http {

// "404 Not Found: no config named \"x\"", from the JSON error body as far as it is one.
std::string error_sentence(const HttpAnswer& answer);

}  // namespace penstock::http
