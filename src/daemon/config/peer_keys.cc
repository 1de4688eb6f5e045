#include "daemon/config/peer_keys.h"

#include <array>

#include "daemon/config/intake_values.h"

namespace penstock::daemon {
namespace {

// clang-format off: one entry reads like a row
const std::array kPeerKeys{
    Key{"kafka.brokers", connection(), "",
        "`host:port,host:port` of some brokers, for item types with the sink `kafka` and for intake.", "",
        [](Config& c, const Value& v) { c.kafka.brokers = text(v); }},
    Key{"kafka.tls.enabled", boolean(), "false",
        "Speak TLS, with the system's certificates to trust unless `kafka.tls.ca-file` names others.", "",
        [](Config& c, const Value& v) { c.kafka.tls = std::get<bool>(v); }},
    Key{"kafka.tls.ca-file", path(), "",
        "PEM certificates of who may vouch for the brokers; not set = the system's.", "",
        [](Config& c, const Value& v) { c.kafka.ca_file = text(v); }},
    Key{"kafka.tls.certificate-file", path(), "",
        "PEM certificate chain that Penstock shows; with `kafka.tls.key-file`.", "",
        [](Config& c, const Value& v) { c.kafka.certificate_file = text(v); }},
    Key{"kafka.tls.key-file", path(), "",
        "PEM private key of that certificate.", "",
        [](Config& c, const Value& v) { c.kafka.key_file = text(v); }},
    Key{"kafka.sasl.mechanism", choice("PLAIN|SCRAM-SHA-256|SCRAM-SHA-512"), "",
        "How Penstock says who it is; not set = it does not.", "",
        [](Config& c, const Value& v) { c.kafka.sasl_mechanism = text(v); }},
    Key{"kafka.sasl.username", id(), "",
        "Name to say.", "",
        [](Config& c, const Value& v) { c.kafka.username = text(v); }},
    Key{"kafka.sasl.password-file", path(), "",
        "File with the password.", "",
        [](Config&, const Value&) {}},
    Key{"kafka.intake.topics", ValueType{.kind = ValueKind::topics}, "",
        "Topics whose messages are taken in as items, each of its item type; not set = none.", "",
        [](Config& c, const Value& v) { c.kafka.intake_topics = *parse_intake_topics(text(v)); }},
    Key{"kafka.intake.group", id(), "penstock",
        "Consumer group of all nodes that share a store.", "",
        [](Config& c, const Value& v) { c.kafka.intake_group = text(v); }},
    Key{"kafka.intake.dead-letter-suffix", id(), ".dlq",
        "A message that can never be taken goes to the topic of its topic's name and this.", "",
        [](Config& c, const Value& v) { c.kafka.dead_letter_suffix = text(v); }},

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

std::span<const Key> peer_keys() { return kPeerKeys; }

}  // namespace penstock::daemon
