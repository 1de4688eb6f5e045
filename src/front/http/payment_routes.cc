#include "front/http/payment_routes.h"

#include <string>
#include <utility>

#include "front/http/batch_entries.h"
#include "front/http/json_routes.h"
#include "front/http/paging.h"
#include "front/http/payment_views.h"
#include "wire/batch.h"
#include "wire/payments.h"

namespace penstock::front {
namespace {

using service::PaymentService;

constexpr std::string_view kPayments = "/api/v1/payments";

struct PaymentRoutes {
  PaymentService& payments;
  std::size_t metadata_bytes_max;
  const Clock& clock;
};

std::optional<PaymentId> read_payment_id(const Request& request, Exchange& exchange) {
  return read_path_id<PaymentId>(request, exchange, 0, kPaymentId);
}

// The error body with the payment beside it.
Response refusal(const Exchange& exchange, std::string_view id, const store::TakenPayment& taken) {
  Response response =
      wire::error_response(422, taken.reason, exchange.request_id(), exchange.now());
  wire::JsonWriter payment;
  encode_refusal(payment, id, taken);
  response.body.pop_back();
  response.body += ",\"payment\":" + std::move(payment).take() + "}";
  return response;
}

void take_one(const PaymentRoutes& context, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), context.clock);
  const auto document = read_json(request, exchange);
  if (!document) return;
  Result<core::PaymentCall> call =
      wire::decode_payment_call(document->root(), context.metadata_bytes_max);
  if (!call) return exchange.fail(call.error());
  std::string id = call->id.str();
  std::vector<core::PaymentCall> calls;
  calls.push_back(std::move(*call));
  std::string request_id = exchange.request_id();
  context.payments.take(
      std::move(calls), std::move(request_id),
      [exchange = std::move(exchange), id = std::move(id)](PaymentService::Taken answers) mutable {
        const Result<store::TakenPayment>& taken = answers.front();
        if (!taken) return exchange.fail(taken.error());
        const Result<int> status = status_of_taken(*taken);
        if (!status) return exchange.fail(status.error());
        if (*status == 422) return exchange.send(refusal(exchange, id, *taken));
        exchange.send(*status, encode_taken_payment(id, *taken));
      });
}

using PaymentBatch = BatchCalls<core::PaymentCall>;

Result<PaymentBatch> decode_csv(std::string_view body, std::size_t metadata_bytes_max) {
  PaymentBatch batch;
  std::optional<Result<wire::PaymentColumns>> columns;
  wire::for_each_csv_row(body, [&](const Result<std::vector<std::string>>& row) {
    if (!columns) {
      columns = row ? wire::PaymentColumns::parse(*row) : std::unexpected(row.error());
      return columns->has_value();
    }
    if (!row) {
      Error error = row.error();
      error.what = "the row " + error.what;
      batch.add({}, std::unexpected(std::move(error)));
    } else {
      batch.add((*columns)->payment_id(*row), (*columns)->decode(*row, metadata_bytes_max));
    }
    return batch.entries.size() <= wire::kBatchEntriesMax;
  });
  if (!columns) return fail(ErrorKind::invalid, "the first row must name the fields");
  if (!*columns) return std::unexpected(columns->error());
  if (batch.entries.size() > wire::kBatchEntriesMax) {
    return fail(ErrorKind::too_large,
                "a batch has at most " + std::to_string(wire::kBatchEntriesMax) + " entries");
  }
  return batch;
}

// Nothing when the exchange was answered.
std::optional<PaymentBatch> read_batch(const PaymentRoutes& context, const Request& request,
                                       Exchange& exchange) {
  Result<PaymentBatch> batch = PaymentBatch{};
  if (is_csv(request)) {
    batch = decode_csv(request.body, context.metadata_bytes_max);
  } else {
    const auto format = batch_format_of(request, exchange, " or text/csv");
    if (!format) return std::nullopt;
    batch = decode_entries<core::PaymentCall>(
        request.body, *format, kPaymentId, [&](wire::JsonValue value) {
          return wire::decode_payment_call(value, context.metadata_bytes_max);
        });
  }
  if (batch) return std::move(*batch);
  exchange.fail(batch.error());
  return std::nullopt;
}

void take_batch(const PaymentRoutes& context, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), context.clock);
  std::optional<PaymentBatch> batch = read_batch(context, request, exchange);
  if (!batch) return;
  std::string request_id = exchange.request_id();
  context.payments.take(
      std::move(batch->calls), std::move(request_id),
      [exchange = std::move(exchange),
       entries = std::move(batch->entries)](const PaymentService::Taken& answers) mutable {
        // One answer is about 110 bytes.
        exchange.send(200, encode_results(entries, answers, kPaymentId, 112, encode_taken_entry));
      });
}

auto send_payment(Exchange&& exchange) {
  return [exchange = std::move(exchange)](const Result<service::PaymentView>& view) mutable {
    if (!view) return exchange.fail(view.error());
    Result<std::string> body = encode_payment_view(*view);
    if (!body) return exchange.fail(body.error());
    exchange.send(200, std::move(*body));
  };
}

void get_payment(const PaymentRoutes& context, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), context.clock);
  auto id = read_payment_id(request, exchange);
  if (!id) return;
  context.payments.find(std::move(*id), send_payment(std::move(exchange)));
}

void release_payment(const PaymentRoutes& context, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), context.clock);
  auto id = read_payment_id(request, exchange);
  if (!id) return;
  std::string request_id = exchange.request_id();
  context.payments.release(std::move(*id), std::string(request.who), std::move(request_id),
                           send_payment(std::move(exchange)));
}

using PaymentMove = void (PaymentService::*)(PaymentId, std::string,
                                             PaymentService::Done<service::PaymentView>);

template <PaymentMove move>
void move_payment(const PaymentRoutes& context, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), context.clock);
  auto id = read_payment_id(request, exchange);
  if (!id) return;
  std::string request_id = exchange.request_id();
  (context.payments.*move)(std::move(*id), std::move(request_id),
                           send_payment(std::move(exchange)));
}

void report_status(const PaymentRoutes& context, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), context.clock);
  auto id = read_payment_id(request, exchange);
  if (!id) return;
  const auto document = read_json(request, exchange);
  if (!document) return;
  const Result<core::PaymentStatus> status = wire::decode_status_report(document->root());
  if (!status) return exchange.fail(status.error());
  std::string request_id = exchange.request_id();
  context.payments.report(std::move(*id), *status, std::string(request.who), std::move(request_id),
                          send_payment(std::move(exchange)));
}

Result<std::optional<core::PaymentStatus>> status_param(const Request& request) {
  const Result<std::optional<std::string>> text = request.query_param("status");
  if (!text) return std::unexpected(text.error());
  if (!*text || (*text)->empty()) return std::nullopt;
  const std::optional<core::PaymentStatus> status = core::payment_status_of(**text);
  if (!status) return invalid_field("status", "must be a status of payments, like HELD");
  return status;
}

void list_payments(const PaymentRoutes& context, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), context.clock);
  const auto status = status_param(request);
  if (!status) return exchange.fail(status.error());
  Result<Page> page = page_of(request);
  if (!page) return exchange.fail(page.error());
  PaymentId after;
  if (!page->after.empty()) {
    Result<PaymentId> id = PaymentId::parse("after", page->after);
    if (!id) return exchange.fail(id.error());
    after = std::move(*id);
  }
  context.payments.list(
      *status, std::move(after), page->limit,
      [exchange = std::move(exchange), limit = page->limit,
       status = *status](Result<store::PaymentPage> found) mutable {
        if (!found) return exchange.fail(found.error());
        Response response;
        if (found->next) {
          std::string path(kPayments);
          if (status) path += "?status=" + std::string(core::payment_status_name(*status));
          response.headers.push_back(next_page_link(path, limit, found->next->str()));
        }
        wire::JsonWriter out(found->rows.size() * 128 + 16);
        out.begin_array();
        for (const store::PaymentRow& row : found->rows) encode_payment_row(out, row);
        out.end_array();
        response.body = std::move(out).take();
        exchange.send(std::move(response));
      });
}

void get_rules(const PaymentRoutes& context, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), context.clock);
  exchange.send(200, wire::encode_payment_rules(context.payments.rules()));
}

void put_rules(const PaymentRoutes& context, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), context.clock);
  const auto document = read_json(request, exchange);
  if (!document) return;
  Result<core::PaymentRules> rules = wire::decode_payment_rules(document->root());
  if (!rules) return exchange.fail(rules.error());
  std::string request_id = exchange.request_id();
  context.payments.put_rules(
      std::move(*rules), std::move(request_id),
      [exchange = std::move(exchange)](const Result<core::PaymentRules>& put) mutable {
        if (!put) return exchange.fail(put.error());
        exchange.send(200, wire::encode_payment_rules(*put));
      });
}

}  // namespace

void add_payment_routes(std::vector<Route>& routes, PaymentService& payments,
                        std::size_t metadata_bytes_max, const Clock& clock) {
  const auto add = [&](Method method, std::string_view pattern, Access access, BodyLimit body,
                       auto* handler, std::string_view scope = {}) {
    routes.push_back({method, pattern, access, body,
                      [handler, context = PaymentRoutes{payments, metadata_bytes_max, clock}](
                          const Request& request, Reply&& reply) {
                        handler(context, request, std::move(reply));
                      },
                      scope});
  };
  add(Method::post, kPayments, Access::api, BodyLimit::item, take_one);
  add(Method::get, kPayments, Access::api, BodyLimit::none, list_payments);
  add(Method::post, "/api/v1/payments/batch", Access::api, BodyLimit::batch, take_batch);
  add(Method::get, "/api/v1/payments/{paymentId}", Access::api, BodyLimit::none, get_payment);
  add(Method::post, "/api/v1/payments/{paymentId}/release", Access::admin, BodyLimit::none,
      release_payment, "payments:release");
  add(Method::post, "/api/v1/payments/{paymentId}/status", Access::admin, BodyLimit::single,
      report_status, "payments:report");
  add(Method::post, "/api/v1/payments/{paymentId}/cancel", Access::api, BodyLimit::none,
      move_payment<&PaymentService::cancel>);
  add(Method::post, "/api/v1/payments/{paymentId}/redrive", Access::api, BodyLimit::none,
      move_payment<&PaymentService::redrive>);
  add(Method::get, "/admin/payments/rules", Access::admin, BodyLimit::none, get_rules);
  add(Method::put, "/admin/payments/rules", Access::admin, BodyLimit::single, put_rules);
}

}  // namespace penstock::front
