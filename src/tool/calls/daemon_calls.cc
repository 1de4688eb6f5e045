#include <vector>

#include "tool/calls/calls.h"

namespace penstock::tool {

std::span<const Call> daemon_calls() {
  static const std::vector<Call> calls{
      {.name = "status",
       .method = "GET",
       .path = "/admin/status",
       .description = "Show a daemon in a few words: version, commit, store, how long it runs.",
       .examples = {"penstock status", "penstock status --url https://penstock.example.com"},
       .view = {.lines = {{"status", "status"},
                          {"message", "message"},
                          {"version", "version"},
                          {"commit", "commit"},
                          {"running for", "uptimeSeconds", Form::seconds},
                          {"mode", "mode"},
                          {"store", "store"}}}},
      {.name = "health",
       .method = "GET",
       .path = "/health/{check}",
       .description = "Ask a daemon whether it can do its work (ready), or serves at all (live).\n"
                      "Exit code 0 when it can, 1 when it says no, 3 when nobody answers.",
       .examples = {"penstock health", "penstock health live"},
       .arguments = {{.names = "CHECK",
                      .field = "check",
                      .help = "What is asked",
                      .place = Place::path,
                      .value_name = "ready|live",
                      .fallback = "ready"}},
       .shown_status = 503,
       .view = {.lines = {{"status", "status"}},
                .rows = "checks",
                .columns = {{"check", "name"}, {"status", "status"}, {"message", "message"}}}},
      {.name = "routes",
       .method = "GET",
       .path = "/admin/routes",
       .description = "List what a daemon answers to, and which token opens it.\n"
                      "`penstock commands` says which command calls which route.",
       .examples = {"penstock routes"},
       .view = {.rows = ".",
                .columns = {{"method", "method"},
                            {"path", "path"},
                            {"access", "access"},
                            {"body", "body"}},
                .none = "no routes"}}};
  return calls;
}

}  // namespace penstock::tool
