#include "app/config/peer_keys.h"

#include <array>

namespace penstock::app {
namespace {

constexpr ValueType boolean() { return {.kind = ValueKind::boolean}; }
constexpr ValueType path() { return {.kind = ValueKind::path}; }
constexpr ValueType connection() { return {.kind = ValueKind::connection}; }
constexpr ValueType id() { return {.kind = ValueKind::id}; }

const std::string& text(const Value& v) { return std::get<std::string>(v); }

// clang-format off: one entry reads like a row
const std::array kKeys{
    Key{"temporal.address", connection(), "",
        "`host:port` of Temporal's frontend, for item types with the sink `temporal`.", "",
        [](Config& c, const Value& v) { c.temporal.address = text(v); }},
    Key{"temporal.namespace", id(), "default",
        "Namespace in which workflows are started; it is not made.", "",
        [](Config& c, const Value& v) { c.temporal.namespace_name = text(v); }},
    Key{"temporal.tls.enabled", boolean(), "false",
        "Speak TLS, with the system's certificates to trust unless `temporal.tls.ca-file` names others.", "",
        [](Config& c, const Value& v) { c.temporal.tls = std::get<bool>(v); }},
    Key{"temporal.tls.ca-file", path(), "",
        "PEM certificates of who may vouch for the server; not set = the system's.", "",
        [](Config& c, const Value& v) { c.temporal.ca_file = text(v); }},
    Key{"temporal.tls.certificate-file", path(), "",
        "PEM certificate chain that Penstock shows; with `temporal.tls.key-file`.", "",
        [](Config& c, const Value& v) { c.temporal.certificate_file = text(v); }},
    Key{"temporal.tls.key-file", path(), "",
        "PEM private key of that certificate.", "",
        [](Config& c, const Value& v) { c.temporal.key_file = text(v); }},
    Key{"temporal.tls.server-name", id(), "",
        "Name that the server's certificate must have; not set = the host of the address.", "",
        [](Config& c, const Value& v) { c.temporal.server_name = text(v); }},
    Key{"temporal.api-key-file", path(), "",
        "File with the API key (1 to 512 printable characters), as Temporal Cloud gives them; needs TLS.", "",
        [](Config&, const Value&) {}},
};
// clang-format on

}  // namespace

std::span<const Key> peer_keys() { return kKeys; }

}  // namespace penstock::app
