// What clients ask about themselves and about the server: CLIENT, COMMAND, CONFIG and INFO.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/ascii.h"
#include "front/resp/session_command.h"

namespace penstock::front {
namespace {

using wire::RespWriter;

std::string mapped(std::string_view text, char (*change)(char)) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), change);
  return out;
}
std::string lower(std::string_view text) { return mapped(text, ascii_lower); }
std::string upper(std::string_view text) {
  return mapped(text, [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
}

// A subcommand that is not there, or HELP, which such an error names.
void help_or_error(std::string_view command, std::span<const std::string_view> arguments,
                   std::span<const std::string_view> lines, RespWriter& out) {
  if (!ascii_equal(arguments[1], "help")) {
    out.error(fmt::format("ERR unknown subcommand '{}'. Try {} HELP.",
                          arguments[1].substr(0, kShownBytesMax), upper(command)));
  } else if (arguments.size() != 2) {
    out.error(wrong_number(fmt::format("{}|help", command)));
  } else {
    out.array(lines.size() + 3);
    out.simple(upper(command) + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
    for (const std::string_view line : lines) out.simple(line);
    out.simple("HELP").simple("    Print this help.");
  }
}

bool is_on_or_off(std::string_view text) noexcept {
  return ascii_equal(text, "on") || ascii_equal(text, "off");
}

void describe(const auto& command, RespWriter& out) {
  out.array(10).bulk(command.name).integer(command.arity);
  const std::string_view flags = command.flags;
  out.set(static_cast<std::size_t>(std::ranges::count(flags, ',')) + 1);
  for (std::size_t from = 0; from <= flags.size();) {
    const std::size_t end = std::min(flags.find(',', from), flags.size());
    out.simple(flags.substr(from, end - from));
    from = end + 1;
  }
  const int key = command.first_key;
  out.integer(key).integer(command.more_keys ? -1 : key).integer(key == 0 ? 0 : 1);
  out.set(0).array(0).array(0).array(0);  // ACL categories, tips, key specifications, subcommands
}

}  // namespace

void RespSession::client(Arguments arguments, RespWriter& out) {
  struct Subcommand {
    std::string_view name;
    std::size_t arguments;
    void (RespSession::*run)(Arguments, RespWriter&);
  };
  static constexpr std::array<Subcommand, 7> kSubcommands{{
      {"id", 2, &RespSession::client_id},
      {"getname", 2, &RespSession::client_getname},
      {"setname", 3, &RespSession::client_setname},
      {"setinfo", 4, &RespSession::client_setinfo},
      {"no-evict", 3, &RespSession::client_switch},
      {"no-touch", 3, &RespSession::client_switch},
      {"info", 2, &RespSession::client_info},
  }};
  static constexpr std::array<std::string_view, 14> kHelp{
      "GETNAME",
      "    Return the name of this connection.",
      "ID",
      "    Return the number of this connection.",
      "INFO",
      "    Return what is known of this connection.",
      "NO-EVICT (ON|OFF)",
      "    Taken and without effect.",
      "NO-TOUCH (ON|OFF)",
      "    Taken and without effect.",
      "SETINFO (LIB-NAME|LIB-VER) <value>",
      "    Taken and without effect.",
      "SETNAME <name>",
      "    Name this connection."};
  const auto found = std::ranges::find_if(
      kSubcommands, [&](const Subcommand& each) { return ascii_equal(arguments[1], each.name); });
  if (found == kSubcommands.end()) {
    help_or_error("client", arguments, kHelp, out);
  } else if (arguments.size() != found->arguments) {
    out.error(wrong_number(fmt::format("client|{}", found->name)));
  } else {
    (this->*found->run)(arguments, out);
  }
}

void RespSession::client_id(Arguments, RespWriter& out) {
  out.integer(static_cast<std::int64_t>(id_));
}

void RespSession::client_getname(Arguments, RespWriter& out) {
  name_.empty() ? out.null() : out.bulk(name_);
}

void RespSession::client_setname(Arguments arguments, RespWriter& out) {
  if (set_name(arguments[2], out)) out.simple("OK");
}

// Clients name their library as soon as they are connected. Nobody asks for it here.
void RespSession::client_setinfo(Arguments arguments, RespWriter& out) {
  const std::string_view field = arguments[2];
  if (!ascii_equal(field, "lib-name") && !ascii_equal(field, "lib-ver")) {
    out.error(fmt::format("ERR Unrecognized option '{}'", field.substr(0, kShownBytesMax)));
  } else if (!is_plain_word(arguments[3])) {
    out.error(
        fmt::format("ERR {} cannot contain spaces, newlines or special characters.", lower(field)));
  } else {
    out.simple("OK");
  }
}

// NO-EVICT and NO-TOUCH: nothing here depends on them.
void RespSession::client_switch(Arguments arguments, RespWriter& out) {
  is_on_or_off(arguments[2]) ? out.simple("OK") : out.error(kSyntaxError);
}

// The fields of Redis 7 but for addresses, since clients read some of them as numbers and fail
// without; what is not counted here is 0.
void RespSession::client_info(Arguments, RespWriter& out) {
  out.verbatim(fmt::format(
      "id={} name={} age=0 idle=0 flags=N db=0 sub=0 psub=0 ssub=0 multi=-1 qbuf=0 qbuf-free=0 "
      "argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0 tot-mem=0 events=r cmd=client|info "
      "user=default redir=-1 resp={}\n",
      id_, name_, static_cast<int>(version_)));
}

void RespSession::command(Arguments arguments, RespWriter& out) {
  static constexpr std::array<std::string_view, 10> kHelp{"(no subcommand)",
                                                          "    Return details about all commands.",
                                                          "COUNT",
                                                          "    Return the number of commands.",
                                                          "DOCS [<command-name> ...]",
                                                          "    Return nothing: there are none.",
                                                          "INFO [<command-name> ...]",
                                                          "    Return details about some commands.",
                                                          "LIST",
                                                          "    Return the names of all commands."};
  const auto is = [&](std::string_view name) { return ascii_equal(arguments[1], name); };
  const std::size_t count = arguments.size();
  if (count == 1 || (count == 2 && is("info"))) {
    out.array(commands().size());
    for (const Command& each : commands()) describe(each, out);
  } else if (is("count")) {
    count == 2 ? out.integer(static_cast<std::int64_t>(commands().size()))
               : out.error(wrong_number("command|count"));
  } else if (is("docs")) {
    out.map(0);
  } else if (is("list")) {
    if (count > 2) {
      out.error(kSyntaxError);
      return;
    }
    out.array(commands().size());
    for (const Command& each : commands()) out.bulk(each.name);
  } else if (is("info")) {
    out.array(count - 2);
    for (const std::string_view name : arguments.subspan(2)) {
      if (const Command* const found = find(name)) {
        describe(*found, out);
      } else {
        out.null();
      }
    }
  } else {
    help_or_error("command", arguments, kHelp, out);
  }
}

// redis-benchmark and some clients ask for these before they begin.
void RespSession::config(Arguments arguments, RespWriter& out) {
  if (!ascii_equal(arguments[1], "get")) {
    static constexpr std::array<std::string_view, 2> kHelp{
        "GET <name> [<name> ...]", "    Return what clients ask for before they begin."};
    help_or_error("config", arguments, kHelp, out);
    return;
  }
  if (arguments.size() < 3) {
    out.error(wrong_number("config|get"));
    return;
  }
  struct Setting {
    std::string_view name;
    std::string_view value;
  };
  static constexpr std::array<Setting, 4> kSettings{
      {{"save", ""}, {"appendonly", "no"}, {"databases", "1"}, {"maxmemory", "0"}}};
  const auto wanted = [&](const Setting& setting) {
    return std::ranges::any_of(arguments.subspan(2), [&](std::string_view name) {
      return name == "*" || ascii_equal(name, setting.name);
    });
  };
  out.map(static_cast<std::size_t>(std::ranges::count_if(kSettings, wanted)));
  for (const Setting& setting : kSettings) {
    if (wanted(setting)) out.bulk(setting.name).bulk(setting.value);
  }
}

void RespSession::info(Arguments arguments, RespWriter& out) {
  const Arguments sections = arguments.subspan(1);
  std::string text;
  const auto add = [&](std::string_view name, const std::string& lines) {
    const bool wanted = sections.empty() || std::ranges::any_of(sections, [&](auto section) {
                          return ascii_equal(section, name) || ascii_equal(section, "default") ||
                                 ascii_equal(section, "all") || ascii_equal(section, "everything");
                        });
    if (!wanted) return;
    if (!text.empty()) text += "\r\n";
    text += fmt::format("# {}\r\n{}", name, lines);
  };
  add("Server", fmt::format("redis_version:{}\r\nredis_mode:standalone\r\nserver_name:penstock\r\n",
                            kRedisVersion));
  add("Clients",
      fmt::format("connected_clients:{}\r\nmaxclients:{}\r\n",
                  state_.connections.load(std::memory_order_relaxed), state_.limits.connections));
  const auto told = state_.throttle.client_totals();
  add("Stats",
      fmt::format("throttle_allowed:{}\r\nthrottle_limited:{}\r\n", told.allowed, told.limited));
  add("Replication", "role:master\r\nconnected_slaves:0\r\n");
  out.verbatim(text);
}

}  // namespace penstock::front
