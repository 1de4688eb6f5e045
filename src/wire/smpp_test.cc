#include "wire/smpp.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/rng.h"
#include "wire/smpp_receipt.h"

namespace penstock::wire {
namespace {

using State = SmppFrame::State;

SmppMessage hello() {
  return {.source = {.ton = 5, .npi = 0, .number = "Penstock"},
          .destination = {.ton = 1, .npi = 1, .number = "491511234567"},
          .esm_class = kEsmClassHeader,
          .registered_delivery = kReceiptAlways,
          .data_coding = kDataCodingUcs2,
          .text = std::string("\x05\x00\x03\x2a\x02\x01Hi", 8),
          .receipted_id = {},
          .message_state = {}};
}

constexpr SmppHeader kSubmit{.command = SmppCommand::submit_sm, .status = 0, .sequence = 7};

std::string bytes_of(const SmppMessage& message, const SmppHeader& header = kSubmit) {
  std::string out;
  append_smpp_message(out, header, message);
  return out;
}

TEST(Smpp, writes_submit_sm_as_the_protocol_lays_it_out) {
  const std::string expected(
      "\x00\x00\x00\x3d\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x07"
      "\x00"
      "\x05\x00Penstock\x00"
      "\x01\x01"
      "491511234567\x00"
      "\x40\x00\x00\x00\x00\x01\x00\x08\x00\x08\x05\x00\x03\x2a\x02\x01Hi",
      61);
  EXPECT_EQ(bytes_of(hello()), expected);
}

TEST(Smpp, writes_a_bind_as_the_protocol_lays_it_out) {
  std::string out;
  append_smpp_bind(out, 1, {.system_id = "me", .password = "pw", .system_type = "VMA"});
  EXPECT_EQ(out, std::string("\x00\x00\x00\x1e\x00\x00\x00\x09\x00\x00\x00\x00\x00\x00\x00\x01"
                             "me\x00pw\x00VMA\x00\x34\x00\x00\x00",
                             30));
  EXPECT_EQ(decode_smpp_bind(std::string_view(out).substr(16)),
            (SmppBind{.system_id = "me", .password = "pw", .system_type = "VMA"}));
}

TEST(Smpp, reads_back_what_it_wrote) {
  SmppMessage message = hello();
  message.receipted_id = "abc-1";
  message.message_state = std::uint8_t{2};
  const std::string bytes = bytes_of(message);
  const SmppFrame frame = read_smpp_frame(bytes);
  ASSERT_EQ(frame.state, State::complete);
  EXPECT_EQ(frame.header, kSubmit);
  EXPECT_EQ(frame.size, bytes.size());
  EXPECT_EQ(decode_smpp_message(frame.body), message);
}

TEST(Smpp, a_unit_that_comes_byte_by_byte_is_complete_with_its_last) {
  std::string bytes = bytes_of(hello());
  const std::size_t first = bytes.size();
  append_smpp(bytes, {.command = SmppCommand::enquire_link, .status = 0, .sequence = 8});
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const SmppFrame frame = read_smpp_frame(std::string_view(bytes).substr(0, size));
    ASSERT_EQ(frame.state, size < first ? State::need_more : State::complete) << size;
    if (size >= first) {
      ASSERT_EQ(frame.size, first);
    }
  }
  const SmppFrame second = read_smpp_frame(std::string_view(bytes).substr(first));
  ASSERT_EQ(second.state, State::complete);
  EXPECT_EQ(second.header.command, SmppCommand::enquire_link);
  EXPECT_TRUE(second.body.empty());
}

TEST(Smpp, lengths_that_cannot_be_are_broken_at_once) {
  for (const std::uint32_t length : {0U, 1U, 15U, 80U * 1024 + 1, 0x7FFF'FFFFU, 0xFFFF'FFFFU}) {
    std::string bytes;
    for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<char>(length >> shift));
    EXPECT_EQ(read_smpp_frame(bytes).state, State::broken) << length;
  }
}

TEST(Smpp, a_body_that_is_cut_anywhere_is_refused_or_is_a_shorter_message) {
  SmppMessage message = hello();
  message.receipted_id = "abc";
  const std::string bytes = bytes_of(message);
  const std::string_view body = std::string_view(bytes).substr(kSmppHeaderBytes);
  const std::size_t options = body.size() - 8;  // the one option with its head
  for (std::size_t size = 0; size < body.size(); ++size) {
    const Result<SmppMessage> read = decode_smpp_message(body.substr(0, size));
    if (size == options) {
      ASSERT_TRUE(read) << "options may be absent";
      continue;
    }
    ASSERT_FALSE(read) << size;
    EXPECT_NE(read.error().what.find("is cut short"), std::string::npos) << read.error().what;
  }
}

TEST(Smpp, a_text_without_end_is_refused) {
  EXPECT_FALSE(decode_smpp_answer(std::string(100, 'x')));
  EXPECT_FALSE(decode_smpp_answer("x"));
  EXPECT_EQ(decode_smpp_answer(""), "");
  EXPECT_EQ(decode_smpp_answer(std::string("id\0", 3)), "id");
}

TEST(Smpp, no_value_breaks_out_of_its_field) {
  SmppMessage message = hello();
  message.source.number = std::string("a\0b", 3);
  message.destination.number = std::string(500, '1');
  const std::string bytes = bytes_of(message);
  const auto read = decode_smpp_message(std::string_view(bytes).substr(kSmppHeaderBytes));
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->source.number, "a");
  EXPECT_EQ(read->destination.number, std::string(65, '1'));
  EXPECT_EQ(read->text, message.text);
}

TEST(Smpp, bytes_at_random_are_read_or_refused) {
  Rng rng(3);
  const std::string whole = bytes_of(hello());
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = whole.substr(kSmppHeaderBytes);
    for (std::uint64_t k = rng.below(6); k > 0; --k) {
      bytes[rng.below(bytes.size())] = static_cast<char>(rng.below(256));
    }
    bytes.resize(rng.below(bytes.size() + 1));
    if (const auto read = decode_smpp_message(bytes)) {
      read_smpp_receipt(*read);
    }
  }
}

TEST(Smpp, addresses_are_numbers_or_names) {
  EXPECT_EQ(smpp_address_of("+4915112"), (SmppAddress{.ton = 1, .npi = 1, .number = "4915112"}));
  EXPECT_EQ(smpp_address_of("101"), (SmppAddress{.ton = 0, .npi = 1, .number = "101"}));
  EXPECT_EQ(smpp_address_of("Shop"), (SmppAddress{.ton = 5, .npi = 0, .number = "Shop"}));
  EXPECT_EQ(smpp_address_of("+"), (SmppAddress{.ton = 5, .npi = 0, .number = "+"}));
  EXPECT_EQ(smpp_address_of(""), SmppAddress{});
}

TEST(Smpp, statuses_have_names) {
  EXPECT_EQ(smpp_status_name(kSmppThrottled), "ESME_RTHROTTLED (0x58)");
  EXPECT_EQ(smpp_status_name(0x0B), "ESME_RINVDSTADR (0x0b)");
  EXPECT_EQ(smpp_status_name(0x400), "status 0x400");
}

SmppMessage receipt(std::string text, std::string id = {},
                    std::optional<std::uint8_t> state = std::nullopt) {
  SmppMessage message;
  message.esm_class = kEsmClassReceipt;
  message.text = std::move(text);
  message.receipted_id = std::move(id);
  message.message_state = state;
  return message;
}

TEST(SmppReceipt, is_read_from_its_text) {
  const auto read = read_smpp_receipt(
      receipt("id:1234 sub:001 dlvrd:001 submit date:2611161200 done date:2611161201 "
              "stat:DELIVRD err:000 Text:stat:EXPIRED"));
  EXPECT_EQ(read, (SmppReceipt{.reference = "1234",
                               .state = core::DeliveryState::delivered,
                               .detail = "DELIVRD"}));
}

TEST(SmppReceipt, options_stand_over_the_text) {
  EXPECT_EQ(
      read_smpp_receipt(receipt("id:1 stat:ENROUTE", "2", 5)),
      (SmppReceipt{
          .reference = "2", .state = core::DeliveryState::undeliverable, .detail = "ENROUTE"}));
  EXPECT_EQ(
      read_smpp_receipt(receipt("", "x", 8)),
      (SmppReceipt{.reference = "x", .state = core::DeliveryState::rejected, .detail = "REJECTD"}));
  EXPECT_EQ(read_smpp_receipt(receipt("id:7 stat:EXPIRED", "", 77))->state,
            core::DeliveryState::expired)
      << "a state that the protocol does not have";
}

TEST(SmppReceipt, tells_errors_and_odd_spellings) {
  EXPECT_EQ(read_smpp_receipt(receipt("ID:a-b Stat:undeliv ERR:012")),
            (SmppReceipt{.reference = "a-b",
                         .state = core::DeliveryState::undeliverable,
                         .detail = "undeliv, error 012"}));
  EXPECT_EQ(read_smpp_receipt(receipt("id:9 stat:WHATEVER"))->state, core::DeliveryState::unknown);
}

TEST(SmppReceipt, a_number_is_one_name_in_either_form) {
  EXPECT_EQ(plain_reference("00ABcdef12", 16), plain_reference("2882400018", 10));
  EXPECT_EQ(plain_reference("ffffffffffffffff", 16), "18446744073709551615");
  for (const char* const odd : {"", "x-7", "12 ", "-5", "0x1f", "10000000000000000"}) {
    EXPECT_EQ(plain_reference(odd, 16), odd) << "as it is";
  }
}

TEST(SmppReceipt, is_none_without_a_reference_or_of_another_kind) {
  EXPECT_FALSE(read_smpp_receipt(receipt("stat:DELIVRD")));
  EXPECT_FALSE(read_smpp_receipt(receipt("")));
  EXPECT_FALSE(read_smpp_receipt(receipt("void:5 stat:DELIVRD")));
  SmppMessage message = receipt("id:5 stat:DELIVRD");
  message.esm_class = 0;
  EXPECT_FALSE(read_smpp_receipt(message)) << "a phone can write such a text";
}

}  // namespace
}  // namespace penstock::wire
