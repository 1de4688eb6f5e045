// Pages that are built into the binary: the console at `/`, and the description of the API with its
// rendered form at `/docs`. Compressed when the binary was built.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "front/http/console_files.h"
#include "front/http/http.h"

namespace penstock::front {

// Without files, `/` says in a plain page how to build them. The files must outlive the routes.
void add_console_routes(std::vector<Route>& routes, std::span<const ConsoleFile> files);

// Each at its own path, under the console's security headers. The files must outlive the routes.
void add_file_routes(std::vector<Route>& routes, std::span<const ConsoleFile> files);

// Which of the codings the client named is to be used. A total function of the header's value.
enum class Coding { plain, gzip, brotli };
Coding coding_for(std::string_view accept_encoding, const ConsoleFile& file) noexcept;

}  // namespace penstock::front
