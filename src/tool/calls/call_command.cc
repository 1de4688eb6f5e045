// A command for each call: what was typed is sent, the answer printed.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <limits>
#include <memory>

#include "cli/client_options.h"
#include "cli/exit_code.h"
#include "cli/input_text.h"
#include "engine/http/answer.h"
#include "runtime/clocks.h"
#include "tool/calls/request.h"
#include "tool/calls/view.h"
#include "tool/commands/commands.h"

namespace penstock::tool {
namespace {

constexpr std::size_t kInputBytesMax = 16U << 20;  // the most that the daemon reads for a batch
constexpr std::uint64_t kCallPageRows = 1'000;     // the most that a page has

// What was typed for one command.
struct Input {
  cli::ClientOptions client;
  std::deque<std::string> texts;               // one for each argument; stable addresses
  std::deque<std::vector<std::string>> lists;  // the same, for those of several values
  std::string whole;                           // --body
  std::string file;                            // entries
  std::int64_t limit = 100;
  bool all = false;
};

std::string value_name(const Argument& argument) {
  if (!argument.value_name.empty()) return argument.value_name;
  if (!argument.names.starts_with('-')) return "";
  switch (argument.kind) {
    case ArgumentKind::integer:
      return "COUNT";
    case ArgumentKind::decimal:
      return "NUMBER";
    case ArgumentKind::boolean:
      return "true|false";
    case ArgumentKind::time:
      return "TIME";
    case ArgumentKind::duration:
      return "DURATION";
    case ArgumentKind::json:
      return "JSON";
    case ArgumentKind::text:
    case ArgumentKind::texts:
      break;
  }
  return "TEXT";
}

std::string file_help(const Call& call) {
  if (call.route->body != wire::BodyLimit::batch) return "The file, JSON; - is standard input";
  return fmt::format("The entries: a JSON array, or one object a line{}; - is standard input",
                     call.csv ? ", or CSV" : "");
}

void add_arguments(cli::Command& command, const Call& call, Input& input) {
  for (const Argument& argument : call.arguments) {
    std::string& text = input.texts.emplace_back(argument.fallback);
    std::vector<std::string>& list = input.lists.emplace_back();
    const std::string name = value_name(argument);
    cli::OptionHelp help{.names = argument.names,
                         .value_name = name,
                         .help = argument.help,
                         .required = argument.required};
    if (name.find('|') != std::string::npos) {
      help.check = cli::one_of(name);
    } else {
      help.check = [&argument](const std::string& value) {
        return check_value(argument, value, runtime::SystemClock().now());
      };
    }
    if (argument.kind == ArgumentKind::texts) {
      command.list(help, list, static_cast<std::size_t>(argument.max));
    } else {
      command.option(help, text);
    }
  }
  if (call.body == BodySource::whole) {
    command.option({.names = "--body",
                    .value_name = "JSON",
                    .help = "The whole body: JSON text, @FILE, or - for standard input; the other "
                            "options go before its members"},
                   input.whole);
  }
  if (call.body == BodySource::file) {
    command.option({.names = "FILE", .value_name = {}, .help = file_help(call), .required = true},
                   input.file);
  }
}

// Everything that was typed, with what stands in files.
Result<Typed> read_typed(const Call& call, const Input& input) {
  Typed typed;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument& argument = call.arguments[i];
    if (argument.kind == ArgumentKind::texts) {
      typed.push_back(input.lists[i]);
      continue;
    }
    typed.emplace_back();
    if (input.texts[i].empty()) continue;
    if (argument.kind != ArgumentKind::json) {
      typed.back().push_back(input.texts[i]);
      continue;
    }
    Result<std::string> text = cli::text_argument(input.texts[i], kInputBytesMax);
    if (!text)
      return fail(ErrorKind::invalid, fmt::format("{}: {}", argument.names, text.error().what));
    typed.back().push_back(*std::move(text));
  }
  return typed;
}

Result<http::HttpCall> read_request(const Call& call, const Input& input, const Typed& typed,
                                    Instant now) {
  Result<std::string> whole = cli::text_argument(input.whole, kInputBytesMax);
  if (!whole) return fail(ErrorKind::invalid, "--body: " + whole.error().what);
  Result<http::HttpCall> request = build_request(call, typed, *whole, now);
  if (!request || call.body != BodySource::file) return request;
  Result<std::string> entries = cli::read_whole(input.file, kInputBytesMax);
  if (!entries) return std::unexpected(std::move(entries.error()));
  request->content_type = entries_type(call, input.file, *entries);
  request->body = *std::move(entries);
  return request;
}

bool is_good(const http::HttpAnswer& answer) { return answer.status >= 200 && answer.status < 300; }

// Entries of a batch that were not taken.
std::size_t failed_entries(wire::JsonValue answer) {
  std::size_t failed = 0;
  const wire::JsonValue results = member_at(answer, "results");
  if (!results || results.type() != wire::JsonType::array) return 0;
  for (wire::JsonValue each = results.first(); each; each = each.next()) {
    const wire::JsonValue status = member_at(each, "status");
    if (!status || status.type() != wire::JsonType::number) continue;
    failed += status.integer().value_or(0) >= 400 ? 1U : 0U;
  }
  return failed;
}

int not_ours() {
  cli::print_error("the answer is not JSON; is --url the address of a Penstock daemon?");
  return cli::kExitFailed;
}

// Prints an answer that is not one of several pages.
int print_answer(const Call& call, const Input& input, const Typed& typed,
                 const http::HttpAnswer& answer, Instant now) {
  const bool good = is_good(answer);
  if (answer.body.empty() && good) {
    if (!input.client.json) fmt::print("{}\n", filled(call, call.view.done, typed));
    return cli::kExitOk;
  }
  const Result<wire::JsonDocument> document = wire::parse_json(answer.body);
  if (input.client.json) {
    fmt::print("{}\n", answer.body);
  } else if (!good && answer.status != call.shown_status) {
    return cli::print_error(http::error_sentence(answer)), cli::kExitFailed;
  } else if (!document) {
    return not_ours();
  } else {
    fmt::print("{}", call.view.words != nullptr ? call.view.words(document->root())
                                                : answer_text(call.view, document->root(), now));
    if (!good && member_at(document->root(), "message"))
      cli::print_error(http::error_sentence(answer));
  }
  if (!good) return cli::kExitFailed;
  if (call.body != BodySource::file || !document) return cli::kExitOk;
  const std::size_t failed = failed_entries(document->root());
  if (failed > 0 && !input.client.json) {
    cli::print_error(fmt::format("{} of {} entries failed", failed,
                                 member_at(document->root(), "results").size()));
  }
  return failed > 0 ? cli::kExitFailed : cli::kExitOk;
}

int print_pages(const Call& call, const Input& input, http::HttpClient& client,
                http::HttpCall request, Instant now) {
  const std::uint64_t limit = input.all ? std::numeric_limits<std::uint64_t>::max()
                                        : static_cast<std::uint64_t>(input.limit);
  request.target +=
      fmt::format("{}limit={}", request.target.find('?') == std::string::npos ? "?" : "&",
                  std::min(limit, kCallPageRows));
  PagePrinter printer(call.view, input.client.json, limit, now,
                      [](const std::string& text) { fmt::print("{}", text); });
  const auto ended = [&](int code) { return printer.end(), code; };
  for (bool first = true;; first = false) {
    const Result<http::HttpAnswer> answer = client.call(request);
    if (!answer) return cli::print_error(answer.error().what), ended(cli::kExitUnreachable);
    if (!is_good(*answer)) {
      if (first && input.client.json) return fmt::print("{}\n", answer->body), cli::kExitFailed;
      return cli::print_error(http::error_sentence(*answer)), ended(cli::kExitFailed);
    }
    const Result<wire::JsonDocument> document = wire::parse_json(answer->body);
    if (!document) return ended(not_ours());
    printer.page(document->root(), !answer->next_page.empty());
    if (answer->next_page.empty() || !printer.wants_more()) break;
    request.target = answer->next_page;
  }
  printer.end();
  if (printer.left_some()) {
    fmt::print(stderr, "there is more: --all shows everything, --limit COUNT so many\n");
  }
  return cli::kExitOk;
}

int run(const Call& call, const Input& input) {
  const Instant now = runtime::SystemClock().now();
  const Result<std::unique_ptr<http::HttpClient>> client = cli::make_client(input.client);
  if (!client) return cli::print_error(client.error().what), cli::kExitUsage;
  const Result<Typed> typed = read_typed(call, input);
  if (!typed) return cli::print_error(typed.error().what), cli::kExitUsage;
  const Result<http::HttpCall> request = read_request(call, input, *typed, now);
  if (!request) return cli::print_error(request.error().what), cli::kExitUsage;
  if (call.paged) return print_pages(call, input, **client, *request, now);
  const Result<http::HttpAnswer> answer = (*client)->call(*request);
  if (!answer) return cli::print_error(answer.error().what), cli::kExitUnreachable;
  return print_answer(call, input, *typed, *answer, now);
}

void add_call(cli::Command group, Call own) {
  const auto call = std::make_shared<const Call>(complete(std::move(own)));
  cli::Command command = group.add(std::string(call->name), description_of(*call),
                                   {call->examples.begin(), call->examples.end()});
  const auto input = std::make_shared<Input>();
  add_arguments(command, *call, *input);
  if (call->paged) {
    command.number({.names = "--limit", .value_name = "COUNT", .help = "Rows to show at most"},
                   input->limit, 1, 1'000'000'000);
    command.flag("--all", "Show all rows, however many pages they are", input->all);
  }
  cli::add_client_options(command, input->client);
  for (const wire::RouteInfo* const route : {call->route, call->other_route}) {
    if (route == nullptr) continue;
    command.calls(std::string(wire::to_string(route->method)), std::string(route->pattern));
  }
  command.action([call, input] { return run(*call, *input); });
}

}  // namespace

cli::Command add_calls(cli::Command parent, CallGroup group) {
  cli::Command place = parent;
  if (!group.words.empty()) {
    const std::string word(group.words.substr(group.words.rfind(' ') + 1));
    place = parent.add(word, std::string(group.description), {});
  }
  for (Call& call : group.calls) add_call(place, std::move(call));
  return place;
}

}  // namespace penstock::tool
