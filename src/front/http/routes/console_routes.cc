// Pages that are built into the binary: the console, and the description of the API.
#include <algorithm>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "front/http/routes/exchange.h"
#include "front/http/routes/routes.h"

namespace penstock::front {
namespace {

// Nothing but what this daemon serves: no other origin, nothing inline, no frame around it. The
// style attribute that scripts set is not a style of the document and needs no word here.
constexpr std::string_view kSecurityLines =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "X-Frame-Options: DENY\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Permissions-Policy: camera=(), microphone=(), geolocation=()\r\n"
    "Vary: Accept-Encoding\r\n";

constexpr std::string_view kNotBuilt =
    "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Penstock</title></head>"
    "<body><h1>Penstock is running, without its console</h1>"
    "<p>This binary was built where npm could not be had. Install Node.js 18 or later with npm, "
    "then run <code>make</code> again: the console is built and embedded by it.</p>"
    "<p>Everything else works: see <a href=\"/health/ready\">/health/ready</a> and "
    "<a href=\"/metrics\">/metrics</a>.</p></body></html>\n";

std::string_view trim(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Calls `see` with each entry of a comma-separated header until it says true.
template <class See>
bool any_entry(std::string_view list, See see) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (see(trim(list.substr(0, comma)))) return true;
    if (comma == list.npos) return false;
    list.remove_prefix(comma + 1);
  }
  return false;
}

bool accepts(std::string_view header, std::string_view coding) noexcept {
  return any_entry(header, [&](std::string_view entry) {
    const std::size_t semicolon = entry.find(';');
    if (!ascii_equal(trim(entry.substr(0, semicolon)), coding)) return false;
    if (semicolon == entry.npos) return true;
    // `q=0`, `q=0.0` and so on refuse it.
    std::string_view weight = trim(entry.substr(semicolon + 1));
    if (weight.size() < 3 || !ascii_equal(weight.substr(0, 2), "q=")) return true;
    weight.remove_prefix(2);
    return weight.find_first_not_of("0.") != weight.npos;
  });
}

bool is_known(std::string_view if_none_match, std::string_view etag) {
  return any_entry(if_none_match, [&](std::string_view entry) {
    if (entry.starts_with("W/")) entry.remove_prefix(2);
    return entry == "*" || entry == etag;
  });
}

// Weak, since one tag stands for all codings of the file.
Response serve(const ConsoleFile& file, const Request& request) {
  Response response{.content_type = file.content_type, .sets_caching = true};
  std::string& lines = response.header_lines;
  lines = kSecurityLines;
  lines += "ETag: W/";
  lines += file.etag;
  // The names of assets hold a hash of what is in them.
  lines += file.path.starts_with("/assets/")
               ? "\r\nCache-Control: public, max-age=31536000, immutable\r\n"
               : "\r\nCache-Control: no-cache\r\n";
  if (is_known(request.header("if-none-match"), file.etag)) {
    response.status = 304;
    return response;
  }
  switch (coding_for(request.header("accept-encoding"), file)) {
    case Coding::brotli:
      lines += "Content-Encoding: br\r\n";
      response.body = file.brotli;
      break;
    case Coding::gzip:
      lines += "Content-Encoding: gzip\r\n";
      response.body = file.gzip;
      break;
    case Coding::plain:
      response.body = file.plain;
      break;
  }
  return response;
}

Response not_built() {
  return {.body = std::string(kNotBuilt),
          .content_type = "text/html; charset=utf-8",
          .header_lines = std::string(kSecurityLines) + "Cache-Control: no-store\r\n",
          .sets_caching = true};
}

using Files = std::span<const ConsoleFile>;

const ConsoleFile* find_file(Files files, std::string_view path) {
  const auto found = std::ranges::find(files, path, &ConsoleFile::path);
  return found == files.end() ? nullptr : &*found;
}

Handler server_of(Files files, std::string_view path) {
  const ConsoleFile* const file = find_file(files, path);
  PENSTOCK_CHECK(file != nullptr);
  return [file](const Request& request, Reply&& reply) { reply(serve(*file, request)); };
}

Result<void> send_asset(const Files& files, const Request& request, Exchange& exchange) {
  const std::string path =
      request.params.empty() ? std::string(request.path) : "/assets/" + request.params.front();
  const ConsoleFile* const file = find_file(files, path);
  if (file == nullptr) return fail(ErrorKind::not_found, "there is nothing at this path");
  exchange.send(serve(*file, request));
  return {};
}

}  // namespace

Coding coding_for(std::string_view accept_encoding, const ConsoleFile& file) noexcept {
  if (!file.brotli.empty() && accepts(accept_encoding, "br")) return Coding::brotli;
  if (!file.gzip.empty() && accepts(accept_encoding, "gzip")) return Coding::gzip;
  return Coding::plain;
}

void add_console_routes(std::vector<Route>& routes, Files files, const Clock& clock) {
  if (find_file(files, "/index.html") == nullptr) {
    routes.emplace_back(wire::route("getConsole"),
                        [](const Request&, Reply&& reply) { reply(not_built()); });
  } else {
    routes.emplace_back(wire::route("getConsole"), server_of(files, "/index.html"));
  }
  const Binder<Files> bind(routes, files, clock);
  bind(wire::route("getConsoleFile"), send_asset);
  bind(wire::route("getIcon"), send_asset);
}

void add_description_routes(std::vector<Route>& routes, Files files) {
  for (const wire::RouteInfo* const row :
       {&wire::route("getDescription"), &wire::route("getReference"),
        &wire::route("getReferenceStyle"), &wire::route("getReferenceScript")}) {
    routes.emplace_back(*row, server_of(files, row->pattern));
  }
}

}  // namespace penstock::front
