// Whether a host can be reached, and what certificate it shows. Sends nothing of a protocol above
// TLS. Blocking.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "runtime/deadline.h"

namespace penstock::daemon::doctor {

struct ReachOptions {
  std::string host;
  std::uint16_t port = 0;
  bool tls = false;
  std::string ca_file;          // that may vouch; empty = the system's
  bool refuse_private = false;  // as the sinks are told
};

struct Reached {
  std::string address;                   // that answered
  std::optional<Instant> valid_until{};  // of the certificate, with TLS
};

// The error says how far it came: the name, the connection or the certificate.
Result<Reached> reach(const ReachOptions& options, const runtime::Deadline& deadline);

// When the certificate in a PEM file ends. `invalid` when there is none.
Result<Instant> certificate_end(const std::string& file);

}  // namespace penstock::daemon::doctor
