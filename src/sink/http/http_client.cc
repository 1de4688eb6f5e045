#include "sink/http/http_client.h"

#include <openssl/ssl.h>

#include <utility>

#include <fmt/format.h>

#include "sink/http/channel.h"
#include "sink/http/loop.h"
#include "sink/http/signature.h"
#include "wire/http_url.h"

namespace penstock::sink {
namespace {

class HttpSink final : public Sink {
 public:
  explicit HttpSink(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}
  ~HttpSink() override { channel_->close(); }

  void send(Handover&& item, Done done) override {
    channel_->send(std::move(item), std::move(done));
  }

 private:
  const std::shared_ptr<Channel> channel_;
};

}  // namespace

HttpClient::HttpClient(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
HttpClient::~HttpClient() = default;

Result<std::unique_ptr<HttpClient>> HttpClient::make(const Clock& clock,
                                                     HttpClientOptions options) {
  TlsContext tls(TlsContext::tls_client);
  SSL_CTX_set_min_proto_version(tls.native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_mode(tls.native_handle(), SSL_MODE_RELEASE_BUFFERS);  // connections at rest keep none
  IoError error;
  tls.set_verify_mode(boost::asio::ssl::verify_peer, error);
  if (!error) tls.set_default_verify_paths(error);
  if (error) {
    return fail(ErrorKind::unavailable,
                "cannot use the machine's certificates: " + error.message());
  }
  if (!options.ca_file.empty()) tls.load_verify_file(options.ca_file, error);
  if (error) {
    return fail(ErrorKind::invalid, fmt::format("cannot use the certificates of {}: {}",
                                                options.ca_file, error.message()));
  }
  return std::unique_ptr<HttpClient>(
      new HttpClient(std::make_unique<Loop>(clock, std::move(options), std::move(tls))));
}

Result<std::unique_ptr<Sink>> HttpClient::open_sink(const HttpSettings& settings) {
  Result<wire::HttpUrl> url = wire::parse_http_url(settings.url);
  if (!url) return invalid_field("sink.url", url.error().what);
  WebhookSigner signer = PENSTOCK_TRY(WebhookSigner::make(settings.secrets));
  return std::make_unique<HttpSink>(
      std::make_shared<Channel>(*loop_, std::move(*url), settings, std::move(signer)));
}

Result<SinkPlace> HttpSettings::place() const {
  wire::HttpUrl parsed = PENSTOCK_TRY(wire::parse_http_url(url));
  return SinkPlace{.host = std::move(parsed.host), .port = parsed.port, .tls = parsed.tls};
}

SinkKind http_kind(HttpClient* client) {
  return kind_of<HttpSettings>(
      "http", [client](const HttpSettings& settings) { return client->open_sink(settings); });
}

std::string url_problem(const FieldValue& value) {
  const Result<wire::HttpUrl> url = wire::parse_http_url(std::get<std::string>(value));
  return url ? "" : url.error().what;
}

std::string webhook_secrets_problem(const FieldValue& value) {
  for (const std::string& secret : std::get<std::vector<std::string>>(value)) {
    if (const Result<std::string> key = wire::parse_webhook_secret(secret); !key) {
      return key.error().what;
    }
  }
  return {};
}

}  // namespace penstock::sink
