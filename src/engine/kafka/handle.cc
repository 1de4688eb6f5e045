#include "engine/kafka/handle.h"

#include <array>

namespace penstock::kafka {
namespace {

// The broker is the judge of sizes; this is beyond any context that dispatch takes.
constexpr const char* kMessageBytesMax = "70000000";

// What goes wrong is told by answers and by health; its own lines would stand between ours.
void no_log(const rd_kafka_t*, int, const char*, const char*) {}

constexpr const char* kInterceptor = "penstock";
struct Watch {
  RequestSent* sent;
  void* opaque;
};

// Within rd_kafka_new.
rd_kafka_resp_err_t on_new(rd_kafka_t* handle, const rd_kafka_conf_t*, void* opaque, char*,
                           std::size_t) {
  const Watch& watch = *static_cast<const Watch*>(opaque);
  return rd_kafka_interceptor_add_on_request_sent(handle, kInterceptor, watch.sent, watch.opaque);
}

Result<void> set(rd_kafka_conf_t* conf, const char* name, const std::string& value) {
  std::array<char, 512> why{};
  if (rd_kafka_conf_set(conf, name, value.c_str(), why.data(), why.size()) == RD_KAFKA_CONF_OK) {
    return {};
  }
  return fail(ErrorKind::invalid, std::string(name) + ": " + why.data());
}

}  // namespace

Result<Conf> make_conf(const Connection& connection, Settings settings) {
  Conf conf(rd_kafka_conf_new());
  rd_kafka_conf_set_log_cb(conf.get(), no_log);
  const bool sasl = !connection.sasl_mechanism.empty();
  const std::string security =
      std::string(sasl ? "sasl_" : "") + (connection.tls ? "ssl" : "plaintext");
  Result<void> done = set(conf.get(), "bootstrap.servers", connection.brokers);
  const auto add = [&](const char* name, const std::string& value) {
    if (done && !value.empty()) done = set(conf.get(), name, value);
  };
  add("client.id", "penstock");
  add("security.protocol", security);
  if (connection.tls) {
    add("ssl.ca.location", connection.ca_file);
    add("ssl.certificate.location", connection.certificate_file);
    add("ssl.key.location", connection.key_file);
    add("ssl.endpoint.identification.algorithm", "https");  // the host must be the certificate's
  }
  add("sasl.mechanism", connection.sasl_mechanism);
  if (sasl) {
    add("sasl.username", connection.username);
    add("sasl.password", connection.password);
  }
  add("message.max.bytes", kMessageBytesMax);
  // After an outage of hours a broker is tried as often as after one of seconds.
  add("reconnect.backoff.max.ms", "2000");
  add("socket.keepalive.enable", "true");
  for (const auto& [name, value] : settings) add(name, value);
  if (!done) return std::unexpected(std::move(done.error()));
  return conf;
}

Result<Handle> make_handle(rd_kafka_type_t type, Conf conf) {
  std::array<char, 512> why{};
  rd_kafka_t* const handle = rd_kafka_new(type, conf.get(), why.data(), why.size());
  if (handle == nullptr) return fail(ErrorKind::invalid, why.data());
  (void)conf.release();  // NOLINT(bugprone-unused-return-value): the handle has it
  return Handle(handle);
}

Result<Handle> make_watched_handle(rd_kafka_type_t type, Conf conf, RequestSent* sent,
                                   void* opaque) {
  // librdkafka 2.0 frees the interceptors of a conf that it refuses, and once more with the conf.
  // So it is asked without any first; if it then has no thread or memory left, that conf is lost.
  Handle tried = PENSTOCK_TRY(make_handle(type, Conf(rd_kafka_conf_dup(conf.get()))));
  tried.reset();
  Watch watch{.sent = sent, .opaque = opaque};
  rd_kafka_conf_interceptor_add_on_new(conf.get(), kInterceptor, on_new, &watch);
  std::array<char, 512> why{};
  rd_kafka_t* const handle = rd_kafka_new(type, conf.release(), why.data(), why.size());
  if (handle == nullptr) return fail(ErrorKind::unavailable, why.data());
  return Handle(handle);
}

}  // namespace penstock::kafka
