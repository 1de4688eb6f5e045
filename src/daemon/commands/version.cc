#include <fmt/format.h>

#include <openssl/crypto.h>
#include <boost/version.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "cli/exit_code.h"
#include "daemon/commands/commands.h"
#include "wire/json.h"

// RocksDB's headers belong to store/embedded; this one function tells which library was loaded.
namespace rocksdb {
std::string GetRocksVersionAsString(bool with_patch);
}

namespace penstock::daemon {
namespace {

// "penstock 0.1.0 (a02ceec)", without the commit where there is none.
std::string version_line() {
  const std::string_view commit = build_commit();
  if (commit.empty()) return "penstock " PENSTOCK_VERSION;
  return fmt::format("penstock " PENSTOCK_VERSION " ({})", commit);
}

void print(bool json) {
  const std::string compiler = fmt::format("GCC {}", __VERSION__);
  const std::string boost = fmt::format("{}.{}.{}", BOOST_VERSION / 100'000,
                                        BOOST_VERSION / 100 % 1'000, BOOST_VERSION % 100);
  const std::string rocks = rocksdb::GetRocksVersionAsString(true);
  const std::string openssl = OpenSSL_version(OPENSSL_VERSION_STRING);
  if (!json) {
    fmt::print("{}\n{}, RocksDB {}, Boost {}, OpenSSL {}\n", version_line(), compiler, rocks, boost,
               openssl);
    return;
  }
  wire::JsonWriter out;
  out.begin_object().member("version", PENSTOCK_VERSION).key("commit");
  if (build_commit().empty()) {
    out.null();
  } else {
    out.value(build_commit());
  }
  out.member("compiler", compiler)
      .member("rocksdb", rocks)
      .member("boost", boost)
      .member("openssl", openssl)
      .end_object();
  fmt::print("{}\n", out.str());
}

}  // namespace

void add_version(cli::Command root) {
  root.version_flag(version_line());
  cli::Command command =
      root.add("version", "Print the version, its commit, and what it was built with.",
               {"penstock version", "penstock version --json"});
  const auto json = std::make_shared<bool>(false);
  command.flag("--json", "Print one JSON object", *json);
  command.action([json] {
    print(*json);
    return static_cast<int>(cli::kExitOk);
  });
}

}  // namespace penstock::daemon
