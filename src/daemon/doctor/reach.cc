#include "daemon/doctor/checks.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <memory>
#include <utility>

#include "runtime/clocks.h"
#include "sink/smpp/socket.h"

namespace penstock::daemon::doctor {
namespace {

template <auto free>
struct Freed {
  template <class T>
  void operator()(T* pointer) const noexcept {
    free(pointer);
  }
};
using Context = std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>>;
using Session = std::unique_ptr<SSL, Freed<SSL_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;

std::string text_of(const sink::SocketAddress& address) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (::getnameinfo(reinterpret_cast<const sockaddr*>(&address.storage), address.size, host.data(),
                    host.size(), port.data(), port.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "?";
  }
  return fmt::format("{}:{}", host.data(), port.data());
}

bool wait_for(int fd, short events, const runtime::Deadline& deadline) {
  pollfd descriptor{.fd = fd, .events = events, .revents = 0};
  return runtime::poll_until({&descriptor, 1}, deadline);
}

Result<void> connect(sink::Socket& socket, const sink::SocketAddress& address,
                     const runtime::Deadline& deadline) {
  PENSTOCK_TRY(socket.connect(address));
  if (!wait_for(socket.fd(), POLLOUT, deadline)) {
    return fail(ErrorKind::timeout, "no answer in time");
  }
  return socket.finish_connect();
}

std::string tls_problem(SSL* session) {
  const long verdict = SSL_get_verify_result(session);
  if (verdict != X509_V_OK) return X509_verify_cert_error_string(verdict);
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  return text.data();
}

std::optional<Instant> end_of(const X509* certificate) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &parts) != 1) return std::nullopt;
  return Instant{Seconds{::timegm(&parts)}};
}

Result<Session> make_session(const ReachOptions& options, const Context& context, int fd) {
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  const int trusted = options.ca_file.empty()
                          ? SSL_CTX_set_default_verify_paths(context.get())
                          : SSL_CTX_load_verify_file(context.get(), options.ca_file.c_str());
  if (trusted != 1) {
    return fail(ErrorKind::invalid,
                fmt::format("cannot use the certificates of {}", options.ca_file));
  }
  Session session(SSL_new(context.get()));
  std::array<unsigned char, sizeof(in6_addr)> number{};
  const char* const host = options.host.c_str();
  if (::inet_pton(AF_INET, host, number.data()) == 1 ||
      ::inet_pton(AF_INET6, host, number.data()) == 1) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session.get()), host);
  } else {
    SSL_set_tlsext_host_name(session.get(), host);
    SSL_set1_host(session.get(), host);
  }
  SSL_set_fd(session.get(), fd);
  return session;
}

Result<std::optional<Instant>> shake_hands(const ReachOptions& options, int fd,
                                           const runtime::Deadline& deadline) {
  const Context context(SSL_CTX_new(TLS_client_method()));
  const Session session = PENSTOCK_TRY(make_session(options, context, fd));
  for (;;) {
    ERR_clear_error();
    const int done = SSL_connect(session.get());
    if (done == 1) break;
    const int wants = SSL_get_error(session.get(), done);
    if (wants != SSL_ERROR_WANT_READ && wants != SSL_ERROR_WANT_WRITE) {
      return fail(ErrorKind::unavailable, "TLS: " + tls_problem(session.get()));
    }
    if (!wait_for(fd, wants == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, deadline)) {
      return fail(ErrorKind::timeout, "TLS: no answer in time");
    }
  }
  const Certificate certificate(SSL_get1_peer_certificate(session.get()));
  if (!certificate) return fail(ErrorKind::unavailable, "TLS: no certificate was shown");
  return end_of(certificate.get());
}

}  // namespace

Result<Reached> reach(const ReachOptions& options, const runtime::Deadline& deadline) {
  const auto addresses =
      PENSTOCK_TRY(sink::resolve_host(options.host, options.port, options.refuse_private));
  Error problem;
  for (const sink::SocketAddress& address : addresses) {
    const std::string name = text_of(address);
    sink::Socket socket;
    if (const Result<void> connected = connect(socket, address, deadline); !connected) {
      problem = {.kind = connected.error().kind,
                 .what = fmt::format("cannot connect to {}: {}", name, connected.error().what)};
      continue;
    }
    if (!options.tls) return Reached{.address = name};
    const auto shown = shake_hands(options, socket.fd(), deadline);
    if (!shown) {
      return fail(shown.error().kind, fmt::format("{}: {}", name, shown.error().what));
    }
    return Reached{.address = name, .valid_until = *shown};
  }
  return std::unexpected(std::move(problem));
}

Result<Instant> certificate_end(const std::string& file) {
  const std::unique_ptr<std::FILE, Freed<std::fclose>> opened(std::fopen(file.c_str(), "re"));
  if (!opened) return fail(ErrorKind::invalid, "cannot read " + file);
  const Certificate certificate(PEM_read_X509(opened.get(), nullptr, nullptr, nullptr));
  const std::optional<Instant> end = certificate ? end_of(certificate.get()) : std::nullopt;
  if (!end) return fail(ErrorKind::invalid, file + " holds no PEM certificate");
  return *end;
}

}  // namespace penstock::daemon::doctor
