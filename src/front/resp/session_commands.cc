// What Redis clients say besides CL.THROTTLE. Replies and errors are worded as Redis 7 does, since
// some clients look at them.
#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "front/http/ascii.h"
#include "front/resp/session.h"

namespace penstock::front {
namespace {

using wire::RespVersion;
using wire::RespWriter;

// The version of Redis whose manners these are; clients choose by it what they may ask.
constexpr std::string_view kRedisVersion = "7.0.0";
constexpr std::size_t kPasswordBytesMax = 512;  // as the file that holds it
constexpr std::size_t kNameBytesMax = 128;      // of a client; it is kept as long as the connection
constexpr std::size_t kShownBytesMax = 128;     // of an unknown command, as Redis

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), ascii_lower);
  return out;
}

std::string unknown_command(std::span<const std::string_view> arguments) {
  std::string shown;
  for (const std::string_view argument : arguments.subspan(1)) {
    if (shown.size() >= kShownBytesMax) break;
    shown += fmt::format("'{}' ", argument.substr(0, kShownBytesMax - shown.size()));
  }
  return fmt::format("ERR unknown command '{}', with args beginning with: {}",
                     arguments[0].substr(0, kShownBytesMax), shown);
}

// A web page can have its visitor's browser send requests to a listener on loopback, with commands
// in their body. As Redis, what gives them away ends the connection.
bool is_http(std::string_view command) noexcept {
  return ascii_equal(command, "post") || ascii_equal(command, "host:");
}

std::string wrong_number(std::string_view command) {
  return fmt::format("ERR wrong number of arguments for '{}' command", command);
}

std::string unknown_subcommand(std::string_view command, std::string_view subcommand) {
  return fmt::format("ERR unknown subcommand '{}'. Try {} HELP.",
                     subcommand.substr(0, kShownBytesMax), command);
}

bool parse_number(std::string_view text, std::int64_t& value) noexcept {
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc{} && parsed.ptr == end;
}

// In a time that says nothing about either.
bool same_secret(std::string_view given, std::string_view secret) noexcept {
  std::array<char, kPasswordBytesMax> a{};
  std::array<char, kPasswordBytesMax> b{};
  std::ranges::copy(given.substr(0, kPasswordBytesMax), a.begin());
  std::ranges::copy(secret.substr(0, kPasswordBytesMax), b.begin());
  const int differs = CRYPTO_memcmp(a.data(), b.data(), a.size());
  return static_cast<int>(differs == 0) & static_cast<int>(given.size() == secret.size());
}

}  // namespace

// As COMMAND INFO shows it. A negative arity is a minimum.
struct RespSession::Command {
  std::string_view name;
  int arity;
  std::string_view flags;  // comma-separated
  int first_key;
  bool for_strangers;  // may be said before the password
  void (RespSession::*run)(Arguments, RespWriter&);
  bool at_once = false;  // between MULTI and EXEC too
};

std::span<const RespSession::Command> RespSession::commands() noexcept {
  static constexpr std::array kCommands{
      Command{"cl.throttle", -5, "write,fast", 1, false, &RespSession::throttle},
      Command{"ping", -1, "fast", 0, false, &RespSession::ping},
      Command{"echo", 2, "fast", 0, false, &RespSession::echo},
      Command{"auth", -2, "noscript,fast,no_auth", 0, true, &RespSession::auth},
      Command{"hello", -1, "noscript,fast,no_auth", 0, true, &RespSession::hello},
      Command{"select", 2, "fast", 0, false, &RespSession::select},
      Command{"client", -2, "noscript", 0, false, &RespSession::client},
      Command{"command", -1, "loading,stale", 0, false, &RespSession::command},
      Command{"config", -2, "admin,noscript", 0, false, &RespSession::config},
      Command{"info", -1, "loading,stale", 0, false, &RespSession::info},
      Command{"reset", 1, "noscript,fast,no_auth", 0, true, &RespSession::reset, true},
      Command{"quit", -1, "noscript,fast,no_auth", 0, true, &RespSession::quit, true},
      Command{"multi", 1, "noscript,fast", 0, false, &RespSession::multi, true},
      Command{"exec", 1, "noscript", 0, false, &RespSession::exec, true},
      Command{"discard", 1, "noscript,fast", 0, false, &RespSession::discard, true},
  };
  return kCommands;
}

const RespSession::Command* RespSession::find(std::string_view name) noexcept {
  for (const Command& each : commands()) {
    if (ascii_equal(name, each.name)) return &each;
  }
  return nullptr;
}

void RespSession::run(Arguments arguments, std::string& out) {
  RespWriter writer(out, version_);
  const Command* const found = find(arguments[0]);
  if (found == nullptr) {
    if (is_http(arguments[0])) return hang_up_on_http();
    break_transaction();
    writer.error(unknown_command(arguments));
    return;
  }
  const auto count = static_cast<int>(arguments.size());
  if (found->arity > 0 ? count != found->arity : count < -found->arity) {
    break_transaction();
    writer.error(wrong_number(found->name));
  } else if (!trusted_ && !found->for_strangers) {
    writer.error("NOAUTH Authentication required.");
  } else if (transaction_ != nullptr && !found->at_once) {
    queue(arguments, writer);
  } else {
    (this->*found->run)(arguments, writer);
  }
}

void RespSession::hang_up_on_http() {
  quits_ = true;
  state_.metrics.protocol_errors.add();
  if (!state_.warned_http.exchange(true)) {
    state_.log.warn("resp.http_request", {{"hint", "HTTP is served on another port"}});
  }
}

void RespSession::ping(Arguments arguments, RespWriter& out) {
  if (arguments.size() > 2) {
    out.error(wrong_number("ping"));
  } else if (arguments.size() == 2) {
    out.bulk(arguments[1]);
  } else {
    out.simple("PONG");
  }
}

void RespSession::echo(Arguments arguments, RespWriter& out) { out.bulk(arguments[1]); }

void RespSession::quit(Arguments, RespWriter& out) {
  out.simple("OK");
  quits_ = true;
}

void RespSession::reset(Arguments, RespWriter& out) {
  version_ = RespVersion::v2;
  trusted_ = state_.password.empty();
  name_.clear();
  transaction_.reset();
  out.simple("RESET");
}

// There is one table of keys: another number must not seem to be another one.
void RespSession::select(Arguments arguments, RespWriter& out) {
  std::int64_t index = 0;
  if (!parse_number(arguments[1], index)) {
    out.error("ERR value is not an integer or out of range");
  } else if (index != 0) {
    out.error("ERR DB index is out of range");
  } else {
    out.simple("OK");
  }
}

bool RespSession::log_in(std::string_view user, std::string_view password, RespWriter& out) {
  const bool known = same_secret(password, state_.password);
  // Without a password the default user takes any, as in Redis.
  if (user == "default" && (known || state_.password.empty())) {
    trusted_ = true;
    return true;
  }
  out.error("WRONGPASS invalid username-password pair or user is disabled.");
  return false;
}

void RespSession::auth(Arguments arguments, RespWriter& out) {
  if (arguments.size() > 3) {
    out.error("ERR syntax error");
    return;
  }
  if (arguments.size() == 2 && state_.password.empty()) {
    out.error(
        "ERR AUTH <password> called without any password configured for the default user. Are you "
        "sure your configuration is correct?");
    return;
  }
  const std::string_view user = arguments.size() == 3 ? arguments[1] : "default";
  if (log_in(user, arguments.back(), out)) out.simple("OK");
}

bool RespSession::set_name(std::string_view name, RespWriter& out) {
  const bool printable = std::ranges::all_of(name, [](char c) { return c >= '!' && c <= '~'; });
  if (!printable) {
    out.error("ERR Client names cannot contain spaces, newlines or special characters.");
  } else if (name.size() > kNameBytesMax) {
    out.error("ERR Client names have at most 128 characters.");
  } else {
    name_ = name;
    return true;
  }
  return false;
}

void RespSession::hello(Arguments arguments, RespWriter& out) {
  RespVersion version = version_;
  if (arguments.size() > 1) {
    std::int64_t number = 0;
    if (!parse_number(arguments[1], number)) {
      out.error("ERR Protocol version is not an integer or out of range");
      return;
    }
    if (number != 2 && number != 3) {
      out.error("NOPROTO unsupported protocol version");
      return;
    }
    version = number == 3 ? RespVersion::v3 : RespVersion::v2;
  }
  std::string_view name;
  bool named = false;
  for (std::size_t i = 2; i < arguments.size();) {
    if (ascii_equal(arguments[i], "auth") && i + 2 < arguments.size()) {
      if (!log_in(arguments[i + 1], arguments[i + 2], out)) return;
      i += 3;
    } else if (ascii_equal(arguments[i], "setname") && i + 1 < arguments.size()) {
      name = arguments[i + 1];
      named = true;
      i += 2;
    } else {
      out.error(fmt::format("ERR Syntax error in HELLO option '{}'",
                            arguments[i].substr(0, kShownBytesMax)));
      return;
    }
  }
  if (!trusted_) {
    out.error(
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
        "<proto> AUTH <user> <pass> option can be used to authenticate the client and select the "
        "RESP protocol version at the same time");
    return;
  }
  if (named && !set_name(name, out)) return;
  version_ = version;
  out.use(version);
  out.map(7).bulk("server").bulk("penstock").bulk("version").bulk(kRedisVersion);
  out.bulk("proto").integer(static_cast<int>(version));
  out.bulk("id").integer(static_cast<std::int64_t>(id_));
  out.bulk("mode").bulk("standalone").bulk("role").bulk("master").bulk("modules").array(0);
}

void RespSession::client(Arguments arguments, RespWriter& out) {
  const std::string_view word = arguments[1];
  const auto is = [&](std::string_view name, std::size_t count) {
    return ascii_equal(word, name) && arguments.size() == count;
  };
  if (is("id", 2)) {
    out.integer(static_cast<std::int64_t>(id_));
  } else if (is("getname", 2)) {
    name_.empty() ? out.null() : out.bulk(name_);
  } else if (is("setname", 3)) {
    if (set_name(arguments[2], out)) out.simple("OK");
  } else if (is("setinfo", 4) || is("no-evict", 3) || is("no-touch", 3)) {
    out.simple("OK");  // nothing here depends on them
  } else if (is("info", 2)) {
    out.verbatim(
        fmt::format("id={} name={} db=0 resp={}\n", id_, name_, static_cast<int>(version_)));
  } else {
    static constexpr std::array<std::string_view, 7> kWords{
        "id", "getname", "setname", "setinfo", "no-evict", "no-touch", "info"};
    const bool known =
        std::ranges::any_of(kWords, [&](std::string_view each) { return ascii_equal(word, each); });
    out.error(known ? wrong_number("client|" + lower(word)) : unknown_subcommand("CLIENT", word));
  }
}

namespace {

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
  out.integer(key).integer(key).integer(key == 0 ? 0 : 1);
  out.set(0).array(0).array(0).array(0);  // ACL categories, tips, key specifications, subcommands
}

}  // namespace

void RespSession::command(Arguments arguments, RespWriter& out) {
  if (arguments.size() == 1) {
    out.array(commands().size());
    for (const Command& each : commands()) describe(each, out);
    return;
  }
  const std::string_view word = arguments[1];
  if (ascii_equal(word, "count")) {
    out.integer(static_cast<std::int64_t>(commands().size()));
  } else if (ascii_equal(word, "docs")) {
    out.map(0);
  } else if (ascii_equal(word, "list")) {
    out.array(commands().size());
    for (const Command& each : commands()) out.bulk(each.name);
  } else if (ascii_equal(word, "info")) {
    out.array(arguments.size() - 2);
    for (const std::string_view name : arguments.subspan(2)) {
      if (const Command* const found = find(name)) {
        describe(*found, out);
      } else {
        out.null();
      }
    }
  } else {
    out.error(unknown_subcommand("COMMAND", word));
  }
}

// redis-benchmark and some clients ask for these before they begin.
void RespSession::config(Arguments arguments, RespWriter& out) {
  if (!ascii_equal(arguments[1], "get")) {
    out.error(unknown_subcommand("CONFIG", arguments[1]));
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

void RespSession::info(Arguments, RespWriter& out) {
  out.verbatim(fmt::format(
      "# Server\r\nredis_version:{}\r\nredis_mode:standalone\r\nserver_name:penstock\r\n"
      "\r\n# Clients\r\nconnected_clients:{}\r\nmaxclients:{}\r\n"
      "\r\n# Stats\r\nthrottle_allowed:{}\r\nthrottle_limited:{}\r\n"
      "\r\n# Replication\r\nrole:master\r\nconnected_slaves:0\r\n",
      kRedisVersion, state_.connections.load(std::memory_order_relaxed), state_.limits.connections,
      state_.metrics.allowed.value(), state_.metrics.limited.value()));
}

}  // namespace penstock::front
