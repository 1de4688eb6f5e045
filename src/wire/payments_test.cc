#include "wire/payments.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "wire/batch.h"

namespace penstock::wire {
namespace {

constexpr std::size_t kMetadataMax = 1'000;

const std::string kGood =
    R"({"paymentId":"p-1","amount":"125.50","currency":"EUR","debtorIban":"DE89370400440532013000",)"
    R"("creditorIban":"GB82WEST12345698765432","executionTime":"2026-01-01T16:00:00Z"})";

Result<core::PaymentCall> decode_call(const std::string& text) {
  const Result<JsonDocument> document = parse_json(text);
  if (!document) return std::unexpected(document.error());
  return decode_payment_call(document->root(), kMetadataMax);
}

// The good call with one member put in place of another, or added.
std::string with(const std::string& name, const std::string& value) {
  const std::string member = "\"" + name + "\":";
  std::string text = kGood;
  const std::size_t at = text.find(member);
  if (at == text.npos) {
    text.pop_back();
    return text + "," + member + value + "}";
  }
  const std::size_t begin = at + member.size();
  return text.replace(begin, text.find('"', begin + 1) + 1 - begin, value);
}

TEST(DecodePaymentCall, reads_all_fields) {
  const auto call = decode_call(with("metadata", R"({"a":[1]})"));
  ASSERT_TRUE(call) << call.error().what;
  EXPECT_EQ(call->id.str(), "p-1");
  EXPECT_EQ(call->amount.minor, 12'550);
  EXPECT_EQ(call->creditor.country(), "GB");
  EXPECT_EQ(call->metadata, R"({"a":[1]})");
  EXPECT_EQ(call->reference, "");
}

TEST(DecodePaymentCall, names_the_field_at_fault) {
  const std::vector<std::tuple<std::string, std::string>> bad = {
      {"paymentId", "\"\""},        {"paymentId", "\"batch\""},
      {"paymentId", "\"a b\""},     {"paymentId", "7"},
      {"paymentId", "null"},        {"amount", "125.50"},
      {"amount", "\"125.505\""},    {"currency", "\"eur\""},
      {"debtorIban", "\"DE\""},     {"creditorIban", "null"},
      {"executionTime", "\"now\""}, {"executionTime", "0"},
      {"reference", "7"},           {"metadata", "[]"},
      {"metadata", "\"{}\""},       {"executionTime", "\"2026-01-01T16:00:00\""}};
  for (const auto& [field, value] : bad) {
    const auto call = decode_call(with(field, value));
    ASSERT_FALSE(call) << field << " " << value;
    EXPECT_EQ(call.error().field, field) << value;
    EXPECT_EQ(call.error().kind, ErrorKind::invalid);
    EXPECT_NE(call.error().what.find(field), std::string::npos);
  }
}

TEST(DecodePaymentCall, ignores_fields_it_does_not_know_and_nulls) {
  EXPECT_TRUE(decode_call(with("unknown", "7")));
  EXPECT_TRUE(decode_call(with("reference", "null")));
  EXPECT_TRUE(decode_call(with("metadata", "null")));
  EXPECT_FALSE(decode_call(R"({"paymentId":"a","paymentId":"b"})"));
}

TEST(DecodePaymentCall, metadata_has_a_limit) {
  const auto call =
      decode_call(with("metadata", R"({"a":")" + std::string(kMetadataMax, 'x') + "\"}"));
  ASSERT_FALSE(call);
  EXPECT_EQ(call.error().kind, ErrorKind::too_large);
}

TEST(DecodePaymentCall, calls_that_ask_for_the_same_have_one_digest) {
  const auto digest = decode_call(kGood)->digest;
  EXPECT_EQ(decode_call(with("amount", "\"125.5\""))->digest, digest);
  EXPECT_EQ(decode_call(with("debtorIban", "\"de89 3704 0044 0532 0130 00\""))->digest, digest);
  EXPECT_EQ(decode_call(with("executionTime", "\"2026-01-01T17:00:00+01:00\""))->digest, digest);
  EXPECT_EQ(decode_call(with("reference", "null"))->digest, digest);
  EXPECT_EQ(decode_call(with("paymentId", "\"p-2\""))->digest, digest);
  EXPECT_NE(decode_call(with("amount", "\"125.51\""))->digest, digest);
  EXPECT_NE(decode_call(with("currency", "\"USD\""))->digest, digest);
  EXPECT_NE(decode_call(with("reference", "\"x\""))->digest, digest);
  EXPECT_NE(decode_call(with("metadata", "{}"))->digest, digest);
  EXPECT_EQ(decode_call(with("metadata", R"({"a":1,"b":2})"))->digest,
            decode_call(with("metadata", R"({ "b":2, "a":1.0 })"))->digest);
}

TEST(PaymentBody, comes_back_as_it_was) {
  const auto call = decode_call(with("metadata", R"({"a":[1], "b":"\u00e9"})"));
  const auto again = decode_payment_body(call->id, encode_payment_body(*call));
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(again->digest, call->digest);
  EXPECT_EQ(encode_payment_body(*again), encode_payment_body(*call));
  EXPECT_EQ(decode_payment_body(call->id, "{").error().kind, ErrorKind::corrupt);
  EXPECT_EQ(decode_payment_body(call->id, "{}").error().kind, ErrorKind::corrupt);
}

TEST(PaymentContext, carries_what_the_executor_needs) {
  const auto call = decode_call(with("reference", "\"inv 7\""));
  EXPECT_EQ(
      encode_payment_context(*call, Instant{Seconds{1}}),
      R"({"paymentId":"p-1","amount":"125.50","currency":"EUR",)"
      R"("debtorIban":"DE89370400440532013000","creditorIban":"GB82WEST12345698765432",)"
      R"("executionTime":"2026-01-01T16:00:00.000Z","reference":"inv 7","amountMinor":12550,)"
      R"("debtorCountry":"DE","creditorCountry":"GB","receivedAt":"1970-01-01T00:00:01.000Z"})");
}

using Row = std::vector<std::string>;
const Row kHeader = {"paymentId",    "amount",        "currency", "debtorIban",
                     "creditorIban", "executionTime", "note",     "metadata"};
const Row kRow = {"p-1",
                  "125.50",
                  "EUR",
                  "DE89370400440532013000",
                  "GB82WEST12345698765432",
                  "2026-01-01T16:00:00Z",
                  "whatever",
                  ""};

TEST(PaymentColumns, read_a_row_as_json_is_read) {
  const auto columns = PaymentColumns::parse(kHeader);
  ASSERT_TRUE(columns) << columns.error().what;
  const auto call = columns->decode(kRow, kMetadataMax);
  ASSERT_TRUE(call) << call.error().what;
  EXPECT_EQ(call->digest, decode_call(kGood)->digest);
  EXPECT_EQ(columns->payment_id(kRow), "p-1");
  Row row = kRow;
  row[7] = R"({"a":1})";
  EXPECT_EQ(columns->decode(row, kMetadataMax)->metadata, R"({"a":1})");
}

TEST(PaymentColumns, name_the_field_at_fault) {
  const auto columns = PaymentColumns::parse(kHeader);
  const auto field_of = [&](std::size_t place, const std::string& text) {
    Row row = kRow;
    row[place] = text;
    const auto call = columns->decode(row, kMetadataMax);
    return call ? std::string("none") : call.error().field;
  };
  EXPECT_EQ(field_of(0, ""), "paymentId");
  EXPECT_EQ(field_of(0, "batch"), "paymentId");
  EXPECT_EQ(field_of(1, "1.234"), "amount");
  EXPECT_EQ(field_of(2, ""), "currency");
  EXPECT_EQ(field_of(5, "tomorrow"), "executionTime");
  EXPECT_EQ(field_of(7, "[1]"), "metadata");
  EXPECT_EQ(field_of(7, "{"), "metadata");
  EXPECT_FALSE(columns->decode(Row{"p-1"}, kMetadataMax));
  EXPECT_EQ(columns->payment_id(Row{}), "");
}

TEST(PaymentColumns, need_a_header_of_field_names) {
  Row header = kHeader;
  header[1] = "sum";
  EXPECT_EQ(PaymentColumns::parse(header).error().field, "amount");
  header = kHeader;
  header[6] = "amount";
  EXPECT_EQ(PaymentColumns::parse(header).error().field, "amount");
}

TEST(DecodeStatusReport, wants_a_status_that_there_is) {
  const auto report = [](const std::string& text) {
    return decode_status_report(parse_json(text)->root());
  };
  EXPECT_EQ(*report(R"({"status":"ACCEPTED"})"), core::PaymentStatus::accepted);
  EXPECT_EQ(report(R"({"status":"DONE"})").error().field, "status");
  EXPECT_EQ(report(R"({})").error().field, "status");
}

Result<core::PaymentRules> rules(const std::string& text) {
  const Result<JsonDocument> document = parse_json(text);
  if (!document) return std::unexpected(document.error());
  return decode_payment_rules(document->root());
}

TEST(PaymentRules, come_back_as_they_were) {
  const std::string text =
      R"([{"name":"large","when":{"currency":"EUR","amountAbove":"10000.5"},"then":"hold",)"
      R"("reason":"needs a second pair of eyes"},)"
      R"({"name":"blocked","when":{"debtorIban":"DE89370400440532013000",)"
      R"("creditorIban":"GB82WEST12345698765432","country":"DE"},"then":"reject","reason":"no"},)"
      R"({"name":"all","when":{},"then":"reject","reason":"closed"}])";
  const auto decoded = rules(text);
  ASSERT_TRUE(decoded) << decoded.error().what;
  EXPECT_EQ(encode_payment_rules(*decoded), text);
  EXPECT_EQ(*rules(encode_payment_rules(*decoded)), *decoded);
  EXPECT_EQ(encode_payment_rules({}), "[]");
}

TEST(PaymentRules, take_a_bound_as_text_or_number) {
  const auto above = [](const std::string& value) {
    return rules(R"([{"name":"a","when":{"currency":"EUR","amountAbove":)" + value +
                 R"(},"then":"hold","reason":"r"}])");
  };
  EXPECT_EQ(*above("1000"), *above("\"1000.00\""));
  for (const char* bad : {"\"1.234\"", "-1", "1e3", "true", "\"x\"", "[]"}) {
    ASSERT_FALSE(above(bad)) << bad;
    EXPECT_EQ(above(bad).error().field, "[0].when.amountAbove");
  }
}

TEST(PaymentRules, name_the_field_at_fault) {
  const auto field_of = [](const std::string& rule) {
    const auto decoded = rules("[" + rule + "]");
    return decoded ? std::string("none") : decoded.error().field;
  };
  EXPECT_EQ(field_of(R"({"name":"a","when":{},"then":"hold","reason":"r"})"), "none");
  EXPECT_EQ(field_of(R"({"when":{},"then":"hold","reason":"r"})"), "[0].name");
  EXPECT_EQ(field_of(R"({"name":"a","then":"hold","reason":"r"})"), "[0].when");
  EXPECT_EQ(field_of(R"({"name":"a","when":{},"then":"pass","reason":"r"})"), "[0].then");
  EXPECT_EQ(field_of(R"({"name":"a","when":{},"then":"hold"})"), "[0].reason");
  EXPECT_EQ(field_of(R"({"name":"a","when":{"country":"de"},"then":"hold","reason":"r"})"),
            "[0].when.country");
  EXPECT_EQ(field_of(R"({"name":"a","when":{"currency":"X"},"then":"hold","reason":"r"})"),
            "[0].when.currency");
  EXPECT_EQ(field_of(R"({"name":"a","when":{},"than":"hold","then":"hold","reason":"r"})"),
            "[0].than");
  EXPECT_EQ(field_of(R"({"name":"a","when":{"contry":"DE"},"then":"hold","reason":"r"})"),
            "[0].when.contry");
  EXPECT_EQ(field_of("7"), "[0]");
  EXPECT_FALSE(rules("{}"));
}

std::vector<Row> csv(std::string_view text) {
  std::vector<Row> all;
  for_each_csv_row(text, [&](const Result<Row>& row) {
    all.push_back(row ? *row : Row{"bad"});
    return true;
  });
  return all;
}

TEST(ForEachCsvRow, reads_quotes_line_breaks_and_both_line_ends) {
  EXPECT_EQ(csv("a,b\r\n\r\nc,\"d\ne\"\n\"f\"\"g\",\n"),
            (std::vector<Row>{{"a", "b"}, {"c", "d\ne"}, {"f\"g", ""}}));
  EXPECT_EQ(csv(""), (std::vector<Row>{}));
  EXPECT_EQ(csv("\n\n"), (std::vector<Row>{}));
  EXPECT_EQ(csv("a"), (std::vector<Row>{{"a"}}));
}

TEST(ForEachCsvRow, a_stray_quote_spoils_its_own_line_only) {
  EXPECT_EQ(csv("a,b\nc\"d,e\nf,g\n"), (std::vector<Row>{{"a", "b"}, {"bad"}, {"f", "g"}}));
  EXPECT_EQ(csv("\"a\nb\nc\n"), (std::vector<Row>{{"bad"}, {"b"}, {"c"}}));
}

}  // namespace
}  // namespace penstock::wire
