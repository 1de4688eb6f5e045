// What Redis clients say besides CL.THROTTLE. Replies and errors are worded as Redis 7 does, since
// some clients look at them.
#include <openssl/crypto.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/ascii.h"
#include "front/resp/session_command.h"

namespace penstock::front {
namespace {

using wire::RespVersion;
using wire::RespWriter;

constexpr std::size_t kPasswordBytesMax = 512;  // as the file that holds it
constexpr std::size_t kDeletedKeysMax = 64;     // each may be a round trip to an engine
constexpr std::size_t kNameBytesMax = 128;      // of a client; it is kept as long as the connection

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

std::span<const RespSession::Command> RespSession::commands() noexcept {
  static constexpr std::array kCommands{
      Command{"cl.throttle", -5, "write,fast", 1, false, &RespSession::throttle},
      Command{"del", -2, "write", 1, false, &RespSession::del, false, false, true},
      Command{"ping", -1, "fast", 0, false, &RespSession::ping},
      Command{"echo", 2, "fast", 0, false, &RespSession::echo},
      Command{"auth", -2, "noscript,fast,no_auth", 0, true, &RespSession::auth},
      Command{"hello", -1, "noscript,fast,no_auth", 0, true, &RespSession::hello, false, true},
      Command{"select", 2, "fast", 0, false, &RespSession::select},
      Command{"client", -2, "noscript", 0, false, &RespSession::client, false, true},
      Command{"command", -1, "loading,stale", 0, false, &RespSession::command, false, true},
      Command{"config", -2, "admin,noscript", 0, false, &RespSession::config, false, true},
      Command{"info", -1, "loading,stale", 0, false, &RespSession::info, false, true},
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
    queue(arguments, found->verbose, writer);
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

// Forgets what the keys have used, as it does where the limits are keys of Redis.
void RespSession::del(Arguments arguments, RespWriter& out) {
  const Arguments keys = arguments.subspan(1);
  if (keys.size() > kDeletedKeysMax) {
    out.error(fmt::format("ERR at most {} keys at once", kDeletedKeysMax));
    return;
  }
  std::int64_t gone = 0;
  for (const std::string_view key : keys) {
    if (key.size() > kThrottleKeyBytesMax) continue;  // there can be none
    const Result<bool> reset =
        state_.throttle.forget_client_limit(kThrottleKeyPrefix + std::string(key));
    if (!reset) {
      out.error("ERR " + reset.error().what);
      return;
    }
    gone += *reset ? 1 : 0;
  }
  out.integer(gone);
}

void RespSession::quit(Arguments, RespWriter& out) {
  out.simple("OK");
  quits_ = true;
}

void RespSession::reset(Arguments, RespWriter& out) {
  version_ = RespVersion::v2;
  trusted_ = state_.password.current().empty();
  name_.clear();
  transaction_.reset();
  out.simple("RESET");
}

// There is one table of keys: another number must not seem to be another one.
void RespSession::select(Arguments arguments, RespWriter& out) {
  std::int64_t index = 0;
  if (!wire::parse_resp_integer(arguments[1], index)) {
    out.error("ERR value is not an integer or out of range");
  } else if (index != 0) {
    out.error("ERR DB index is out of range");
  } else {
    out.simple("OK");
  }
}

bool RespSession::log_in(std::string_view user, std::string_view password, RespWriter& out) {
  const bool asked = !state_.password.current().empty();
  const bool known = same_secret(password, state_.password.current()) && user == "default";
  if (asked) {
    const SecretKind secret = known ? SecretKind::resp_password : SecretKind::wrong;
    if (const auto wait =
            state_.guesses.judge({.front = GuessFront::resp, .address = peer_, .secret = secret})) {
      out.error(fmt::format(
          "ERR too many wrong passwords came from this address, try again in {} seconds",
          wait->count()));
      quits_ = true;
      return false;
    }
  }
  // Without a password the default user takes any, as in Redis.
  if (known || (user == "default" && !asked)) {
    trusted_ = true;
    return true;
  }
  out.error("WRONGPASS invalid username-password pair or user is disabled.");
  return false;
}

void RespSession::auth(Arguments arguments, RespWriter& out) {
  if (arguments.size() > 3) {
    out.error(kSyntaxError);
    return;
  }
  if (arguments.size() == 2 && state_.password.current().empty()) {
    out.error(
        "ERR AUTH <password> called without any password configured for the default user. Are you "
        "sure your configuration is correct?");
    return;
  }
  const std::string_view user = arguments.size() == 3 ? arguments[1] : "default";
  if (log_in(user, arguments.back(), out)) out.simple("OK");
}

bool is_plain_word(std::string_view text) noexcept {
  return std::ranges::all_of(text, [](char c) { return c >= '!' && c <= '~'; });
}

bool RespSession::set_name(std::string_view name, RespWriter& out) {
  if (!is_plain_word(name)) {
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
    if (!wire::parse_resp_integer(arguments[1], number)) {
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

}  // namespace penstock::front
