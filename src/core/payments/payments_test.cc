// Money, accounts, statuses and rules of payments.
#include <gtest/gtest.h>

#include <string>

#include "core/payments/currency.h"
#include "core/payments/iban.h"
#include "core/payments/money.h"
#include "core/payments/payment.h"
#include "core/payments/rules.h"
#include "core/payments/status.h"

namespace penstock::core {
namespace {

Result<Money> money(std::string_view text, std::string_view code) {
  return parse_money(text, *currency_of(code));
}

TEST(Currency, is_one_of_the_list_with_its_digits) {
  EXPECT_EQ(currency_of("EUR")->digits, 2);
  EXPECT_EQ(currency_of("JPY")->digits, 0);
  EXPECT_EQ(currency_of("KWD")->digits, 3);
  EXPECT_EQ(currency_of("CLF")->digits, 4);
  for (const char* none : {"", "EU", "EURO", "eur", "XXX", "XAU", "DEM", "URU"}) {
    EXPECT_FALSE(currency_of(none)) << none;
  }
}

TEST(Money, is_read_to_the_last_digit_of_its_currency) {
  EXPECT_EQ(money("125.50", "EUR")->minor, 12'550);
  EXPECT_EQ(money("125.5", "EUR")->minor, 12'550);
  EXPECT_EQ(money("125", "EUR")->minor, 12'500);
  EXPECT_EQ(money("0.01", "USD")->minor, 1);
  EXPECT_EQ(money("1250", "JPY")->minor, 1'250);
  EXPECT_EQ(money("1.234", "KWD")->minor, 1'234);
  EXPECT_EQ(money("9999999999999999.99", "EUR")->minor, 999'999'999'999'999'999);
}

TEST(Money, is_refused_when_it_is_no_amount_of_the_currency) {
  for (const char* bad :
       {"", ".", "1.", ".5", "-1", "+1", "1e3", "1,5", " 1", "1 ", "01", "00.10", "0", "0.00",
        "1.234", "0x1", "10000000000000000.00", "1.2.3", "\xd9\xa1"}) {
    EXPECT_FALSE(money(bad, "EUR")) << bad;
  }
  EXPECT_FALSE(money("1.5", "JPY"));
  EXPECT_FALSE(money("1.0", "JPY"));
}

TEST(Money, is_written_with_all_its_digits) {
  for (const auto& [text, code] : {std::pair{"125.50", "EUR"},
                                   {"0.01", "EUR"},
                                   {"7", "JPY"},
                                   {"0.001", "BHD"},
                                   {"1.0000", "CLF"}}) {
    EXPECT_EQ(format_money(*money(text, code)), text);
  }
}

TEST(Threshold, is_compared_as_a_number) {
  EXPECT_TRUE(is_above(*money("100.01", "EUR"), *parse_threshold("100")));
  EXPECT_FALSE(is_above(*money("100.00", "EUR"), *parse_threshold("100")));
  EXPECT_TRUE(is_above(*money("101", "JPY"), *parse_threshold("100.9999")));
  EXPECT_TRUE(
      is_above(*money("9999999999999999.99", "EUR"), *parse_threshold("9999999999999999.98", 2)));
  EXPECT_FALSE(parse_threshold("1.00001"));
  EXPECT_EQ(format_threshold(*parse_threshold("100.50")), "100.5");
  EXPECT_EQ(format_threshold(*parse_threshold("100.00")), "100");
  EXPECT_EQ(format_threshold(*parse_threshold("0.0001")), "0.0001");
}

TEST(Iban, is_taken_as_people_write_it) {
  EXPECT_EQ(Iban::parse("DE89 3704 0044 0532 0130 00")->str(), "DE89370400440532013000");
  EXPECT_EQ(Iban::parse("gb82west12345698765432")->str(), "GB82WEST12345698765432");
  EXPECT_EQ(Iban::parse("NO9386011117947")->country(), "NO");
  EXPECT_EQ(Iban::parse("MT84MALT011000012345MTLCAST001S")->country(), "MT");
  EXPECT_EQ(Iban::parse("FR1420041010050500013M02606")->country(), "FR");
}

TEST(Iban, is_refused_when_length_country_or_check_digits_are_wrong) {
  for (const char* bad :
       {"", "DE", "DE89", "DE8937040044053201300", "DE893704004405320130000",
        "DE88370400440532013000", "DE89370400440532013001", "XX89370400440532013000",
        "89DE370400440532013000", "DE89-3704-0044-0532-0130-00", "US89370400440532013000",
        "GB82WEST1234569876543\xc3\xa9", "DE8937040044053201300000000000000000000000000000"}) {
    EXPECT_FALSE(Iban::parse(bad)) << bad;
  }
}

// Every single wrong digit and every swap of neighbours is what the check digits are for.
TEST(Iban, any_one_wrong_digit_and_any_swap_is_noticed) {
  const std::string good = "DE89370400440532013000";
  for (std::size_t i = 2; i < good.size(); ++i) {
    for (char digit = '0'; digit <= '9'; ++digit) {
      std::string other = good;
      other[i] = digit;
      EXPECT_EQ(Iban::parse(other).has_value(), other == good) << other;
    }
    if (i + 1 == good.size() || good[i] == good[i + 1]) continue;
    std::string swapped = good;
    std::swap(swapped[i], swapped[i + 1]);
    EXPECT_FALSE(Iban::parse(swapped)) << swapped;
  }
}

TEST(PaymentStatus, has_a_name_that_is_understood) {
  for (std::size_t i = 0; i < kPaymentStatuses; ++i) {
    const auto status = static_cast<PaymentStatus>(i);
    EXPECT_EQ(payment_status_of(payment_status_name(status)), status);
  }
  EXPECT_EQ(payment_status_of("scheduled"), std::nullopt);
}

TEST(PaymentStatus, moves_along_its_four_arrows_only) {
  using enum PaymentStatus;
  int arrows = 0;
  for (const auto from : {scheduled, accepted, processing, rejected, held, failed}) {
    for (const auto to : {scheduled, accepted, processing, rejected, held, failed}) {
      arrows += may_report(from, to) ? 1 : 0;
    }
  }
  EXPECT_EQ(arrows, 4);
  EXPECT_TRUE(may_report(scheduled, accepted));
  EXPECT_TRUE(may_report(accepted, processing));
  EXPECT_TRUE(may_report(scheduled, failed));
  EXPECT_TRUE(may_report(accepted, failed));
}

TEST(PaymentStatus, is_failed_while_its_item_is_dead) {
  using enum PaymentStatus;
  EXPECT_EQ(shown_status(scheduled, ItemState::dead), failed);
  EXPECT_EQ(shown_status(scheduled, ItemState::cancelled), failed);
  EXPECT_EQ(shown_status(scheduled, ItemState::ready), scheduled);
  EXPECT_EQ(shown_status(scheduled, ItemState::dispatched), scheduled);
  EXPECT_EQ(shown_status(accepted, ItemState::dead), accepted);
  EXPECT_EQ(shown_status(held, std::nullopt), held);
}

PaymentCall payment(std::string_view amount = "125.50", std::string_view currency = "EUR") {
  return *check_payment({.amount = amount,
                         .currency = currency,
                         .debtor_iban = "DE89370400440532013000",
                         .creditor_iban = "GB82WEST12345698765432",
                         .reference = std::nullopt});
}

TEST(CheckPayment, names_the_field_at_fault) {
  const PaymentTexts good{.amount = "1.00",
                          .currency = "EUR",
                          .debtor_iban = "DE89370400440532013000",
                          .creditor_iban = "GB82WEST12345698765432",
                          .reference = "invoice 7"};
  const auto field_of = [&](auto change) {
    PaymentTexts texts = good;
    change(texts);
    const Result<PaymentCall> call = check_payment(texts);
    return call ? std::string("none") : call.error().field;
  };
  EXPECT_EQ(field_of([](PaymentTexts&) {}), "none");
  EXPECT_EQ(field_of([](PaymentTexts& t) { t.amount = "1.001"; }), "amount");
  EXPECT_EQ(field_of([](PaymentTexts& t) { t.currency = "EURO"; }), "currency");
  EXPECT_EQ(field_of([](PaymentTexts& t) { t.debtor_iban = "DE1"; }), "debtorIban");
  EXPECT_EQ(field_of([](PaymentTexts& t) { t.creditor_iban = "DE1"; }), "creditorIban");
  EXPECT_EQ(field_of([](PaymentTexts& t) { t.reference = "a\nb"; }), "reference");
  EXPECT_EQ(field_of([](PaymentTexts& t) { t.reference = "caf\xe9"; }), "reference") << "Latin-1";
  EXPECT_EQ(field_of([](PaymentTexts& t) { t.reference = "caf\xc3\xa9"; }), "none");
  const std::string longest(kReferenceBytesMax, 'x');
  const std::string longer(kReferenceBytesMax + 1, 'x');
  EXPECT_EQ(field_of([&](PaymentTexts& t) { t.reference = longest; }), "none");
  EXPECT_EQ(field_of([&](PaymentTexts& t) { t.reference = longer; }), "reference");
}

TEST(ScheduledTime, of_a_time_that_has_passed_is_now) {
  const Instant now{Micros{5'000'999}};
  EXPECT_EQ(scheduled_time(Instant{Seconds{4}}, now), Instant{Millis{5'000}});
  EXPECT_EQ(scheduled_time(Instant{Seconds{6}}, now), Instant{Seconds{6}});
}

PaymentRule rule(std::string name, PaymentCondition when) {
  return {
      .name = std::move(name), .when = std::move(when), .then = RuleAction::reject, .reason = "r"};
}

TEST(PaymentRules, match_when_all_that_is_given_holds) {
  const PaymentCall it = payment();
  EXPECT_TRUE(matches({}, it));
  EXPECT_TRUE(matches({.currency = "EUR"}, it));
  EXPECT_FALSE(matches({.currency = "USD"}, it));
  EXPECT_TRUE(matches({.above = *parse_threshold("125.49")}, it));
  EXPECT_FALSE(matches({.above = *parse_threshold("125.50")}, it));
  EXPECT_FALSE(matches({.currency = "USD", .above = *parse_threshold("1")}, it));
  EXPECT_TRUE(matches({.debtor = Iban::trusted("DE89370400440532013000")}, it));
  EXPECT_FALSE(matches({.creditor = Iban::trusted("DE89370400440532013000")}, it));
  EXPECT_TRUE(matches({.country = "DE"}, it));
  EXPECT_TRUE(matches({.country = "GB"}, it));
  EXPECT_FALSE(matches({.country = "FR"}, it));
}

TEST(PaymentRules, the_first_that_matches_decides) {
  const PaymentRules rules = {rule("france", {.country = "FR"}), rule("britain", {.country = "GB"}),
                              rule("euros", {.currency = "EUR"})};
  ASSERT_NE(first_match(rules, payment()), nullptr);
  EXPECT_EQ(first_match(rules, payment())->name, "britain");
  EXPECT_EQ(first_match({rules.begin(), rules.begin() + 1}, payment()), nullptr);
}

TEST(PaymentRules, are_refused_when_they_cannot_be_told_apart) {
  EXPECT_TRUE(check_rules({rule("a", {}), rule("b", {})}));
  EXPECT_EQ(check_rules({rule("a", {}), rule("a", {})}).error().field, "[1].name");
  EXPECT_EQ(check_rules({rule("", {})}).error().field, "[0].name");
  PaymentRule silent = rule("a", {});
  silent.reason.clear();
  EXPECT_EQ(check_rules({silent}).error().field, "[0].reason");
  PaymentRules many;
  for (std::size_t i = 0; i <= kPaymentRulesMax; ++i) many.push_back(rule(std::to_string(i), {}));
  EXPECT_FALSE(check_rules(many));
  many.pop_back();
  EXPECT_TRUE(check_rules(many));
}

}  // namespace
}  // namespace penstock::core
