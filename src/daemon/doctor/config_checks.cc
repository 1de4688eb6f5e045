#include "daemon/doctor/config_checks.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <variant>

namespace penstock::daemon::doctor {
namespace {

constexpr const char* kSettings = "config.settings";
constexpr const char* kSecrets = "config.secrets";

bool is_private_key(std::string_view key) { return key.ends_with("tls.key-file"); }

bool is_secret(std::string_view key) {
  return key.ends_with("token-file") || key.ends_with("password-file") ||
         key.ends_with("api-key-file") || is_private_key(key);
}

}  // namespace

Findings judge_settings(const std::string& file, const Loaded& loaded) {
  const std::string check =
      "penstock check-config" + (file.empty() ? std::string() : " --config " + file);
  Findings findings;
  if (!loaded) {
    for (const std::string& problem : loaded.error()) {
      findings.push_back(failed(kSettings, problem, "correct it, then run: " + check));
    }
    return findings;
  }
  findings.push_back(
      ok(kSettings,
         fmt::format("{}: {} setting{} differ from the defaults", file.empty() ? "no file" : file,
                     loaded->changed.size(), loaded->changed.size() == 1 ? "" : "s")));
  for (const std::string& text : loaded->warnings) {
    findings.push_back(warning("config.warning", text, "change it, then run: " + check));
  }
  return findings;
}

Findings judge_secret_mode(std::string_view key, const std::string& file, mode_t mode, bool told) {
  Findings findings;
  if (!S_ISREG(mode)) return findings;  // a pipe or a device has no secret lying in it
  if ((mode & S_IROTH) != 0 && !told) {
    findings.push_back(warning(kSecrets,
                               fmt::format("{}: everyone on this machine can read {}", key, file),
                               "chmod o-r " + file));
  }
  if ((mode & (S_IWGRP | S_IWOTH)) != 0) {
    findings.push_back(warning(kSecrets,
                               fmt::format("{}: others than its owner can replace {}", key, file),
                               "chmod go-w " + file));
  }
  return findings;
}

Findings check_config(const std::string& file, const Loaded& loaded) {
  Findings findings = judge_settings(file, loaded);
  if (!loaded) return findings;
  std::size_t files = 0;
  Findings modes;
  for (const Setting& setting : loaded->changed) {
    const auto* const path = std::get_if<std::string>(&setting.value);
    if (path == nullptr || !is_secret(setting.key->path())) continue;
    struct stat status{};
    if (::stat(path->c_str(), &status) != 0) continue;  // the settings say so themselves
    ++files;
    std::ranges::move(judge_secret_mode(setting.key->path(), *path, status.st_mode,
                                        !is_private_key(setting.key->path())),
                      std::back_inserter(modes));
  }
  if (files > 0 && modes.empty()) {
    modes.push_back(ok(kSecrets, fmt::format("{} file{} that only the owner can replace", files,
                                             files == 1 ? "" : "s")));
  }
  std::ranges::move(modes, std::back_inserter(findings));
  return findings;
}

}  // namespace penstock::daemon::doctor
