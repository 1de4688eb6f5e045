// The addresses that the daemon would listen on: free, or its own already. The judgements are pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "daemon/config/config.h"
#include "daemon/doctor/finding.h"
#include "engine/http/http_client.h"
#include "runtime/deadline.h"

namespace penstock::daemon::doctor {

enum class Occupant : std::uint8_t { nobody, penstock, unknown };

// What /health/ready answered on an address that is taken.
struct HealthAnswer {
  Occupant occupant = Occupant::unknown;
  Finding finding;
};
// `tls`: an answer that did not come may be a certificate that we cannot judge from here.
HealthAnswer judge_health(const std::string& address, bool tls,
                          const Result<http::HttpAnswer>& answer);

// `problem` is what bind() says, 0 = it is free.
Finding judge_bind(std::string name, const std::string& address, std::uint16_t port, int problem);

// `other` is who has the address of HTTP: a taken RESP address is then the same daemon's.
Finding judge_resp(const std::string& address, std::uint16_t port, int problem, Occupant other);

// Whether nobody listens on the address of HTTP now; one that any port will do for is free.
bool is_http_free(const Config& config);

Findings check_listen(const Config& config, const runtime::Deadline& deadline);

}  // namespace penstock::daemon::doctor
