// The requests on a connection: which are let in, who handles them, how they are answered.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <utility>

#include "base/check.h"
#include "front/http/server/loop.h"
#include "front/http/server/session.h"
#include "wire/batch.h"
#include "wire/http/errors.h"
#include "wire/http/response_writer.h"

namespace penstock::front {
namespace {

std::size_t body_limit(const HttpLimits& limits, BodyLimit limit) noexcept {
  switch (limit) {
    case BodyLimit::none:
      return std::min(kUnusedBodyBytesMax, limits.body_bytes);
    case BodyLimit::single:
      return limits.body_bytes;
    case BodyLimit::batch:
      return limits.batch_body_bytes;
    case BodyLimit::item:
      return limits.item_body_bytes;
  }
  return 0;
}

}  // namespace

// Does all that the bytes at hand allow, then rests.
void Session::serve() {
  for (int handled = 0; handled < kRequestsPerTurn;) {
    switch (reader_.next(loop_.request, framing_)) {
      case wire::RequestReader::Step::need_more:
        return rest();
      case wire::RequestReader::Step::head:
        admit();
        break;
      case wire::RequestReader::Step::request:
        if (!handle()) return;
        ++handled;
        break;
      case wire::RequestReader::Step::refused:
        return refuse_and_close(reader_.refusal().status, reader_.refusal().message);
    }
    if (closing_) return rest();
    if (loop_.out.size() >= kFlushBytes) break;
  }
  yield();
}

// Judges a request by its head, before its body is read.
void Session::admit() {
  Request& request = loop_.request;
  phase_ = Phase::idle;
  method_ = request.method;
  started_ = loop_.now();
  body_bytes_seen_ = 0;
  choose_request_id(request.header("x-request-id"));
  route_ = find_route();
  if (!route_) return;
  const TokenGate& gate = loop_.state().gate.current();
  const bool scoped = route_->by_scope;
  if (scoped) request.who = gate.name_of(request.header("authorization"));
  if (const auto refusal = judge(*route_, gate)) {
    if (refusal->status == 429) {
      const Error error{
          .kind = ErrorKind::limited, .what = std::string(refusal->message), .retry_after = wait_};
      return refuse(wire::error_response(error, request_id_, loop_.state().clock.now()));
    }
    return refuse(refusal->status, refusal->message,
                  refusal->status == 401 ? Header{"WWW-Authenticate", "Bearer"} : Header{});
  }
  if (scoped && !gate.has_scope(request.who)) {
    return refuse(
        403, fmt::format("this token lacks the scope {}; the admin token has it", route_->scope));
  }
  admit_body(*route_);
}

std::optional<wire::Refusal> Session::judge(const Route& route, const TokenGate& gate) {
  const ServerState& state = loop_.state();
  const Request& request = loop_.request;
  // With a scope, a token that is not enough is still a token: admit() answers 403, not 401.
  const bool scoped = route.by_scope;
  const bool guarded = scoped ? !gate.has_scope("anonymous") : gate.guards(route.access);
  const std::string_view authorization = request.header("authorization");
  const bool asks = guarded && route.access != Access::everyone;
  const std::optional<SecretKind> secret = asks ? gate.kind_of(authorization) : std::nullopt;
  const bool opened = !asks || TokenGate::opens(scoped ? Access::api : route.access, secret);
  return state.guard.judge(request, {.access = route.access,
                                     .speaks_for_others = route.speaks_for_others,
                                     .guarded = guarded,
                                     .opened = opened,
                                     .waits = secret && has_to_wait(*secret),
                                     .has_body = framing_.has_body(),
                                     .local_address = local_address_});
}

// Whether the token is one guess too many. One that was right on this connection is none.
bool Session::has_to_wait(SecretKind secret) {
  const auto bit = std::to_underlying(secret);
  if ((known_secrets_ & bit) != 0) return false;
  const auto address = wire::parse_ip_address(peer_address_).value_or(wire::IpAddress{});
  const std::optional<Seconds> wait = loop_.state().guesses.judge(
      {.front = GuessFront::http, .address = address, .secret = secret});
  wait_ = wait.value_or(Seconds::zero());
  if (!wait) known_secrets_ |= bit;
  return wait.has_value();
}

// The route of the request, its parameters filled in. Null: the request was refused.
const Route* Session::find_route() {
  Request& request = loop_.request;
  RouteMatch match = loop_.state().router.match(request.method, request.path, request.params);
  switch (match.status) {
    case 0:
      return match.route;
    case 405:
      refuse(405, "this path does not have this method", {"Allow", std::move(match.allow)});
      break;
    case 400:
      refuse(400, "the path is not well percent-encoded");
      break;
    default:
      refuse(match.status, "there is nothing at this path");
      break;
  }
  return nullptr;
}

void Session::admit_body(const Route& route) {
  const std::size_t limit = body_limit(loop_.state().limits, route.body);
  // Charged as it comes, so that nobody can hold memory by announcing a body.
  if (framing_.content_length <= limit) {
    const std::size_t work = kWorkFactor * static_cast<std::size_t>(framing_.content_length);
    if (work > kFreeBytes && !loop_.state().memory.has_room(work)) return refuse(503, kNoMemory);
  }
  const auto problem = reader_.accept(limit);
  if (problem) return refuse(problem->status, problem->message);
  // A client that waits for our nod gets it now that all but the body is known to be good.
  if (framing_.expects_continue && framing_.has_body() && !reader_.has_unread()) {
    loop_.out += wire::kContinue;
  }
}

// Has the request handled. False: the answer comes later.
bool Session::handle() {
  Request& request = loop_.request;
  phase_ = Phase::idle;
  if (reader_.reparsed()) {
    route_ = loop_.state().router.match(request.method, request.path, request.params).route;
    PENSTOCK_CHECK(route_ != nullptr);
    started_ = loop_.now();
  }
  request.request_id = request_id_;
  request.peer_address = peer_address_;
  if (route_->body == BodyLimit::none) request.body = {};
  work_bytes_ = kWorkFactor * request.body.size();
  if (route_->body == BodyLimit::batch) {
    work_bytes_ += kEntryBytes * wire::entries_at_most(request.body);
  }
  if (!charge()) {
    reader_.finish();
    answer(no_memory());
    return true;
  }
  HandlerCall call(this);
  bool starved = false;
  try {
    route_->handler(request, make_reply(loop_.inbox(), this));
  } catch (const std::bad_alloc&) {
    starved = true;
    loop_.state().log.error("http.out_of_memory",
                            {{"route", route_->pattern}, {"request_id", request_id_}});
  } catch (const std::exception& error) {
    // The Reply went down with the handler and has answered 500.
    loop_.state().log.error(
        "http.handler_failed",
        {{"route", route_->pattern}, {"error", error.what()}, {"request_id", request_id_}});
  } catch (...) {
    loop_.state().log.error("http.handler_failed",
                            {{"route", route_->pattern}, {"request_id", request_id_}});
  }
  reader_.finish();
  if (call.answered) {
    answer(starved && !call.answer ? no_memory() : std::move(call.answer));
    return true;
  }
  answering_ = true;
  reader_.park();
  if (!charge()) {
    // What came behind it is dropped, and the connection ends with this answer.
    reader_.abandon();
    closing_ = true;
    lingers_ = true;
  }
  if (flush()) {
    phase_ = Phase::handling;
    deadline_ = Micros::max();
  }
  return false;
}

void Session::on_answer(Answer&& given) {
  PENSTOCK_CHECK(answering_);
  answering_ = false;
  if (phase_ == Phase::closed) return charge_.force(0);
  answer(std::move(given));
  if (phase_ == Phase::writing) {
    // Earlier answers still wait for room; this one queues behind them.
    unsent_ += std::exchange(loop_.out, {});
    answer_bytes_ = 0;
    if (!charge()) close();
    return;
  }
  if (closing_) return rest();
  serve();
}

void Session::answer(Answer&& given) {
  if (given) return respond(*given);
  respond(wire::error_response(500, "the request was dropped without an answer", request_id_,
                               loop_.state().clock.now()));
}

Response Session::no_memory() {
  return wire::error_response(503, kNoMemory, request_id_, loop_.state().clock.now());
}

void Session::respond(const Response& response) {
  const bool streams = response.stream_after && method_ != Method::head;
  if (streams && !begin_stream(*response.stream_after)) {
    Response refusal = wire::error_response(503, "too many view the live stream", request_id_,
                                            loop_.state().clock.now());
    return respond(refusal);
  }
  const bool keep_alive = framing_.keep_alive && !closing_ && !loop_.stopping() && !streams;
  closing_ = !keep_alive;
  wire::append_response(loop_.out, response,
                        {.date_line = loop_.date_line(),
                         .request_id = request_id_,
                         .http11 = framing_.http11,
                         .keep_alive = keep_alive,
                         .until_close = streams,
                         .head_only = method_ == Method::head});
  record(response.status);
  // That was the end of this request; what comes next may be no request at all.
  answer_bytes_ =
      std::max(answer_bytes_, std::min({work_bytes_, loop_.out.size(), charge_.bytes()}));
  work_bytes_ = 0;
  framing_ = {};
  method_ = Method::other;
  route_ = nullptr;
  request_id_.clear();
}

// From now on the session views the stream. False: there are enough that do, or no more are wanted.
bool Session::begin_stream(std::uint64_t after) {
  ServerState& state = loop_.state();
  if (closing_ || loop_.stopping()) return false;
  if (state.streams.fetch_add(1, std::memory_order_relaxed) >= state.limits.streams) {
    state.streams.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  state.metrics.streams.add(1);
  streaming_ = true;
  stream_after_ = after;
  return true;
}

void Session::refuse(int status, std::string_view message, Header extra) {
  Response response = wire::error_response(status, message, request_id_, loop_.state().clock.now());
  if (!extra.first.empty()) response.headers.push_back(std::move(extra));
  refuse(response);
}

// Answers a request that is not let in. Its body is read past when that is cheap, else the
// connection ends with this answer.
void Session::refuse(const Response& response) {
  const bool skippable = !framing_.chunked && !framing_.expects_continue &&
                         framing_.content_length <= kUnusedBodyBytesMax;
  if (skippable) {
    reader_.discard();
  } else {
    closing_ = true;
    lingers_ = true;
  }
  respond(response);
}

// Answers what cannot go on, whatever it is in the middle of.
void Session::refuse_and_close(int status, std::string_view message) {
  if (request_id_.empty()) choose_request_id({});
  closing_ = true;
  lingers_ = true;
  respond(wire::error_response(status, message, request_id_, loop_.state().clock.now()));
  rest();
}

void Session::choose_request_id(std::string_view from_client) {
  if (wire::is_request_id(from_client)) {
    request_id_ = from_client;
  } else {
    loop_.make_request_id(request_id_);
  }
}

void Session::record(int status) {
  if (refused_) return;  // counted by the listener, and too many to log
  ServerState& state = loop_.state();
  const bool begun = route_ != nullptr;
  const Micros took = begun ? loop_.now() - started_ : Micros::zero();
  state.metrics.count(method_, status, std::chrono::duration<double>(took).count());
  const LogLevel level = status >= 500 ? LogLevel::warn : LogLevel::debug;
  if (!state.log.enabled(level)) return;
  state.log.write(level, "http.request",
                  {{"method", to_string(method_)},
                   {"route", route_ ? route_->pattern : "-"},
                   {"status", status},
                   {"micros", took.count()},
                   {"peer", peer_address_},
                   {"request_id", request_id_}});
}

}  // namespace penstock::front
