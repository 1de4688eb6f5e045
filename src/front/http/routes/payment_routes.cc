// The routes of payments: /api/v1/payments, and /admin/payments/rules.
#include <string>
#include <utility>

#include "front/http/routes/exchange.h"
#include "front/http/routes/payment_views.h"
#include "front/http/routes/routes.h"
#include "wire/batch.h"
#include "wire/payments.h"

namespace penstock::front {
namespace {

using service::PaymentService;

struct Payments {
  PaymentService& service;
  std::size_t metadata_bytes_max;
};

Result<PaymentId> path_payment(const Request& request) {
  return path_id<PaymentId>(request, 0, kPaymentId);
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

Result<void> take_one(const Payments& context, const Request& request, Exchange& exchange) {
  core::PaymentCall call = PENSTOCK_TRY(read_body(request, exchange, [&](wire::JsonValue value) {
    return wire::decode_payment_call(value, context.metadata_bytes_max);
  }));
  std::string id = call.id.str();
  std::vector<core::PaymentCall> calls;
  calls.push_back(std::move(call));
  std::string request_id = exchange.request_id();
  context.service.take(std::move(calls), std::move(request_id),
                       [exchange = std::move(exchange),
                        id = std::move(id)](const PaymentService::Taken& answers) mutable {
                         const Result<store::TakenPayment>& taken = answers.front();
                         if (!taken) return exchange.fail(taken.error());
                         const Result<int> status = status_of_taken(*taken);
                         if (!status) return exchange.fail(status.error());
                         if (*status == 422) return exchange.send(refusal(exchange, id, *taken));
                         exchange.send(*status, encode_taken_payment(id, *taken));
                       });
  return {};
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

Result<PaymentBatch> read_batch(const Payments& context, const Request& request,
                                Exchange& exchange) {
  if (is_csv(request)) return decode_csv(request.body, context.metadata_bytes_max);
  const auto format = PENSTOCK_TRY(batch_format_of(request, exchange, " or text/csv"));
  return decode_entries<core::PaymentCall>(
      request.body, format, kPaymentId, [&](wire::JsonValue value) {
        return wire::decode_payment_call(value, context.metadata_bytes_max);
      });
}

Result<void> take_batch(const Payments& context, const Request& request, Exchange& exchange) {
  PaymentBatch batch = PENSTOCK_TRY(read_batch(context, request, exchange));
  std::string request_id = exchange.request_id();
  context.service.take(
      std::move(batch.calls), std::move(request_id),
      [exchange = std::move(exchange),
       entries = std::move(batch.entries)](const PaymentService::Taken& answers) mutable {
        exchange.send(200, encode_results(entries, answers, kPaymentId, encode_taken_entry));
      });
  return {};
}

auto sends_payment(Exchange&& exchange) {
  return [exchange = std::move(exchange)](const Result<service::PaymentView>& view) mutable {
    if (!view) return exchange.fail(view.error());
    Result<std::string> body = encode_payment_view(*view);
    if (!body) return exchange.fail(body.error());
    exchange.send(200, std::move(*body));
  };
}

Result<void> get_payment(const Payments& context, const Request& request, Exchange& exchange) {
  PaymentId id = PENSTOCK_TRY(path_payment(request));
  context.service.find(std::move(id), sends_payment(std::move(exchange)));
  return {};
}

Result<void> release_payment(const Payments& context, const Request& request, Exchange& exchange) {
  PaymentId id = PENSTOCK_TRY(path_payment(request));
  std::string request_id = exchange.request_id();
  context.service.release(std::move(id), std::string(request.who), std::move(request_id),
                          sends_payment(std::move(exchange)));
  return {};
}

using PaymentMove = void (PaymentService::*)(PaymentId, std::string,
                                             PaymentService::Done<service::PaymentView>);

template <PaymentMove move>
Result<void> move_payment(const Payments& context, const Request& request, Exchange& exchange) {
  PaymentId id = PENSTOCK_TRY(path_payment(request));
  std::string request_id = exchange.request_id();
  (context.service.*move)(std::move(id), std::move(request_id), sends_payment(std::move(exchange)));
  return {};
}

Result<void> report_status(const Payments& context, const Request& request, Exchange& exchange) {
  PaymentId id = PENSTOCK_TRY(path_payment(request));
  const auto status = PENSTOCK_TRY(read_body(request, exchange, wire::decode_status_report));
  std::string request_id = exchange.request_id();
  context.service.report(std::move(id), status, std::string(request.who), std::move(request_id),
                         sends_payment(std::move(exchange)));
  return {};
}

Result<core::PaymentStatus> parse_status(std::string_view text) {
  const std::optional<core::PaymentStatus> status = core::payment_status_of(text);
  if (!status) return invalid_field("status", "must be a status of payments, like HELD");
  return *status;
}

Result<PaymentId> place_after(const std::string& text) {
  return text.empty() ? PaymentId{} : PaymentId::parse("after", text);
}

Result<void> list_payments(const Payments& context, const Request& request, Exchange& exchange) {
  const auto status = PENSTOCK_TRY(query_value(request, "status", parse_status));
  const Page page = PENSTOCK_TRY(page_of(request));
  PaymentId after = PENSTOCK_TRY(place_after(page.after));
  std::string path(wire::route("listPayments").pattern);
  if (status) path += "?status=" + std::string(core::payment_status_name(*status));
  context.service.list(
      status, std::move(after), page.limit,
      [exchange = std::move(exchange), limit = page.limit,
       path = std::move(path)](const Result<store::PaymentPage>& found) mutable {
        if (!found) return exchange.fail(found.error());
        Response response{.body = json_array(found->rows, encode_payment_row)};
        if (found->next) {
          response.headers.push_back(next_page_link(path, limit, found->next->str()));
        }
        exchange.send(std::move(response));
      });
  return {};
}

Result<void> get_rules(const Payments& context, const Request& /*request*/, Exchange& exchange) {
  exchange.send(200, wire::encode_payment_rules(context.service.rules()));
  return {};
}

Result<void> put_rules(const Payments& context, const Request& request, Exchange& exchange) {
  auto rules = PENSTOCK_TRY(read_body(
      request, exchange, [](wire::JsonValue value) { return wire::decode_payment_rules(value); }));
  std::string request_id = exchange.request_id();
  context.service.put_rules(std::move(rules), std::move(request_id),
                            sends(std::move(exchange), wire::encode_payment_rules));
  return {};
}

}  // namespace

void add_payment_routes(std::vector<Route>& routes, PaymentService& payments,
                        std::size_t metadata_bytes_max, const Clock& clock) {
  const Binder<Payments> bind(routes, {payments, metadata_bytes_max}, clock);
  bind(wire::route("takePayment"), take_one);
  bind(wire::route("listPayments"), list_payments);
  bind(wire::route("takePayments"), take_batch);
  bind(wire::route("getPayment"), get_payment);
  bind(wire::route("releasePayment"), release_payment);
  bind(wire::route("reportPayment"), report_status);
  bind(wire::route("cancelPayment"), move_payment<&PaymentService::cancel>);
  bind(wire::route("redrivePayment"), move_payment<&PaymentService::redrive>);
  bind(wire::route("getPaymentRules"), get_rules);
  bind(wire::route("putPaymentRules"), put_rules);
}

}  // namespace penstock::front
