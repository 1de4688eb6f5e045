// A small Boost.Beast server behind penstock::Filter: five requests at once from an address, then
// one a second. One thread, one connection after the other: the filter is what it shows.
// Usage: beast_server [PORT]    0 or nothing = any free port, which it prints
#include <penstock/filter.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cstdlib>
#include <iostream>
#include <string>

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

namespace {

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

Response answer(const penstock::Filter& filter, const Request& request, const std::string& peer) {
  penstock::RequestView seen;
  seen.peer_address = peer;
  seen.method = view(request.method_string());
  seen.target = view(request.target());
  seen.find_header = [&](std::string_view name, std::vector<std::string_view>& values) {
    const auto range = request.equal_range(beast::string_view(name.data(), name.size()));
    for (auto field = range.first; field != range.second; ++field) {
      values.push_back(view(field->value()));
    }
  };
  const penstock::FilterDecision decision = filter.check(seen);

  Response response(http::status::ok, request.version());
  if (!decision.allowed) response.result(static_cast<unsigned>(decision.status));
  for (const penstock::HeaderField& field : decision.headers) {
    response.set(field.name, field.value);
  }
  response.set(http::field::content_type, "text/plain");
  response.keep_alive(request.keep_alive());
  response.body() = decision.allowed ? "hello\n" : decision.message + "\n";
  response.prepare_payload();
  return response;
}

void serve(const penstock::Filter& filter, tcp::socket socket) {
  beast::error_code error;
  const std::string peer = socket.remote_endpoint(error).address().to_string();
  beast::flat_buffer buffer;
  while (!error) {
    Request request;
    http::read(socket, buffer, request, error);
    if (error) break;
    const Response response = answer(filter, request, peer);
    http::write(socket, response, error);
    if (!response.keep_alive()) break;
  }
}

}  // namespace

int main(int argc, char** argv) {
  penstock::LimiterOptions options;
  options.default_policy.capacity = 5;
  options.default_policy.refill = penstock::refill_every(std::chrono::seconds{1}, 1);
  const auto limiter = penstock::Limiter::make(options);
  if (!limiter) {
    std::cerr << limiter.error().what << '\n';
    return 1;
  }
  penstock::FilterOptions filter_options;
  filter_options.free_methods = {"OPTIONS"};
  const auto filter = penstock::Filter::make(*limiter, filter_options);
  if (!filter) {
    std::cerr << filter.error().what << '\n';
    return 1;
  }

  const auto port = static_cast<unsigned short>(argc > 1 ? std::atoi(argv[1]) : 0);
  asio::io_context context;
  tcp::acceptor acceptor(context, {asio::ip::make_address("127.0.0.1"), port});
  std::cout << "listening on 127.0.0.1:" << acceptor.local_endpoint().port() << std::endl;
  for (;;) serve(*filter, acceptor.accept());
}
