// One spelling for every path that a server would take for the same. Pure.
#pragma once

#include <string>
#include <string_view>

namespace penstock::wire {

// Appends the path of a request target: the query and fragment go, as do scheme and host;
// percent-encoded characters that need no encoding are decoded and the others written in capitals;
// `.` and `..` are resolved and slashes in a row become one, so that no spelling buys a fresh
// bucket. Bytes outside of printable ASCII are percent-encoded. Without a leading slash one is
// added. A broken `%` stays as `%25`.
void append_route_path(std::string& out, std::string_view target);

}  // namespace penstock::wire
