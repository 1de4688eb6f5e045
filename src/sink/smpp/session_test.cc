#include "sink/smpp/session.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sink/smpp/messenger.h"
#include "sink/test_answers.h"

namespace penstock::sink {
namespace {

using wire::SmppCommand;
using wire::SmppHeader;

constexpr Micros kStart = Seconds{100};

SessionOptions options(std::size_t window = 10) {
  return {.bind = {.system_id = "me", .password = "pw", .system_type = ""},
          .window = window,
          .answer_within = Seconds{10},
          .look_after = Seconds{30}};
}

struct Unit {
  SmppHeader header;
  std::string body;
};

std::vector<Unit> units_of(std::string_view bytes) {
  std::vector<Unit> units;
  while (!bytes.empty()) {
    const wire::SmppFrame frame = wire::read_smpp_frame(bytes);
    EXPECT_EQ(frame.state, wire::SmppFrame::State::complete);
    if (frame.state != wire::SmppFrame::State::complete) break;
    units.push_back({.header = frame.header, .body = std::string(frame.body)});
    bytes.remove_prefix(frame.size);
  }
  return units;
}

std::string answer(SmppCommand command, std::uint32_t sequence, std::uint32_t status = 0,
                   std::string_view id = "id") {
  std::string out;
  wire::append_smpp_answer(out, {.command = command, .status = status, .sequence = sequence}, id);
  return out;
}

std::string plain(SmppCommand command, std::uint32_t sequence, std::uint32_t status = 0) {
  std::string out;
  wire::append_smpp(out, {.command = command, .status = status, .sequence = sequence});
  return out;
}

SmppSession bound(std::size_t window = 10) {
  SmppSession session(options(window), kStart);
  session.take_output();
  session.on_bytes(answer(SmppCommand::bind_transceiver_resp, 1), kStart);
  EXPECT_TRUE(session.is_bound());
  return session;
}

TEST(SmppSession, binds_and_then_takes_submits) {
  SmppSession session(options(), kStart);
  EXPECT_FALSE(session.has_room());
  const auto units = units_of(session.take_output());
  ASSERT_EQ(units.size(), 1U);
  EXPECT_EQ(units[0].header.command, SmppCommand::bind_transceiver);
  EXPECT_EQ(wire::decode_smpp_bind(units[0].body)->system_id, "me");
  session.on_bytes(answer(SmppCommand::bind_transceiver_resp, 1), kStart);
  EXPECT_TRUE(session.has_room());
}

TEST(SmppSession, says_why_a_bind_failed) {
  SmppSession refused(options(), kStart);
  refused.on_bytes(answer(SmppCommand::bind_transceiver_resp, 1, 0x0E, ""), kStart);
  EXPECT_EQ(refused.end(), "the provider refused the bind: ESME_RINVPASWD (0x0e)");
  SmppSession silent(options(), kStart);
  silent.on_time(kStart + Seconds{9});
  EXPECT_FALSE(silent.end());
  silent.on_time(silent.wake_at());
  EXPECT_EQ(silent.end(), "the provider did not answer the bind");
}

TEST(SmppSession, keeps_its_window) {
  SmppSession session = bound(2);
  session.submit(7, {});
  session.submit(8, {});
  EXPECT_FALSE(session.has_room());
  EXPECT_EQ(units_of(session.take_output()).size(), 2U);
  session.on_bytes(answer(SmppCommand::submit_sm_resp, 3, 0, "b"), kStart);
  EXPECT_TRUE(session.has_room());
  const auto answered = session.take_answered();
  ASSERT_EQ(answered.size(), 1U);
  EXPECT_EQ(answered[0].ticket, 8U);
  EXPECT_EQ(answered[0].reference, "b");
  session.forget(7);
  session.on_bytes(answer(SmppCommand::submit_sm_resp, 2, 0, "a"), kStart);
  EXPECT_TRUE(session.take_answered().empty()) << "nobody waits for it any more";
}

TEST(SmppSession, takes_answers_that_come_byte_by_byte) {
  SmppSession session = bound();
  session.submit(1, {});
  session.submit(2, {});
  const std::string bytes = answer(SmppCommand::submit_sm_resp, 2, 0, "first") +
                            plain(SmppCommand::enquire_link, 77) +
                            answer(SmppCommand::submit_sm_resp, 3, 0x58, "");
  session.take_output();
  std::vector<SmppSession::Answered> all;
  for (const char byte : bytes) {
    session.on_bytes({&byte, 1}, kStart);
    for (auto& each : session.take_answered()) all.push_back(std::move(each));
  }
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].reference, "first");
  EXPECT_EQ(all[1].status, 0x58U);
  const auto units = units_of(session.take_output());
  ASSERT_EQ(units.size(), 1U);
  EXPECT_EQ(units[0].header, (SmppHeader{SmppCommand::enquire_link_resp, 0, 77}));
}

TEST(SmppSession, a_generic_nack_answers_its_submit) {
  SmppSession session = bound();
  session.submit(1, {});
  session.on_bytes(plain(SmppCommand::generic_nack, 2, 0x03), kStart);
  EXPECT_EQ(session.take_answered().at(0).status, 0x03U);
  session.submit(2, {});
  session.on_bytes(plain(SmppCommand::generic_nack, 3, 0), kStart);
  EXPECT_EQ(session.take_answered().at(0).status, wire::kSmppSystemError) << "it was not taken";
  EXPECT_FALSE(session.end());
}

TEST(SmppSession, looks_whether_the_other_side_is_there) {
  SmppSession session = bound();
  EXPECT_EQ(session.wake_at(), kStart + Seconds{30});
  session.on_time(kStart + Seconds{30});
  auto units = units_of(session.take_output());
  ASSERT_EQ(units.size(), 1U);
  EXPECT_EQ(units[0].header.command, SmppCommand::enquire_link);
  session.on_bytes(plain(SmppCommand::enquire_link_resp, units[0].header.sequence),
                   kStart + Seconds{31});
  EXPECT_EQ(session.wake_at(), kStart + Seconds{61});
  session.on_time(kStart + Seconds{61});
  session.on_time(kStart + Seconds{71});
  EXPECT_EQ(session.end(), "the provider does not answer any more");
}

TEST(SmppSession, refuses_what_it_does_not_know) {
  SmppSession session = bound();
  session.on_bytes(plain(static_cast<SmppCommand>(0x103), 5), kStart);
  auto units = units_of(session.take_output());
  ASSERT_EQ(units.size(), 1U);
  EXPECT_EQ(units[0].header, (SmppHeader{SmppCommand::generic_nack, wire::kSmppInvalidCommand, 5}));
  session.on_bytes(
      plain(static_cast<SmppCommand>(0x8000'0103), 6) + plain(SmppCommand::alert_notification, 7),
      kStart);
  EXPECT_TRUE(session.take_output().empty());
  EXPECT_FALSE(session.end());
}

TEST(SmppSession, an_impossible_length_ends_it) {
  SmppSession session = bound();
  session.on_bytes(std::string("\xff\xff\xff\xff", 4), kStart);
  EXPECT_TRUE(session.end());
  EXPECT_EQ(units_of(session.take_output()).at(0).header.command, SmppCommand::generic_nack);
  session.on_bytes(answer(SmppCommand::submit_sm_resp, 2), kStart);
  EXPECT_TRUE(session.take_answered().empty());
}

TEST(SmppSession, messages_from_the_provider_are_answered_by_whoever_keeps_them) {
  SmppSession session = bound();
  std::string bytes;
  wire::append_smpp_message(bytes, {.command = SmppCommand::deliver_sm, .status = 0, .sequence = 9},
                            {.esm_class = 4, .text = "id:1 stat:DELIVRD"});
  bytes += plain(SmppCommand::deliver_sm, 10);  // without its body
  session.on_bytes(bytes, kStart);
  const auto delivered = session.take_delivered();
  ASSERT_EQ(delivered.size(), 1U);
  EXPECT_EQ(delivered[0].message.text, "id:1 stat:DELIVRD");
  auto units = units_of(session.take_output());
  ASSERT_EQ(units.size(), 1U);
  EXPECT_EQ(units[0].header,
            (SmppHeader{SmppCommand::deliver_sm_resp, wire::kSmppInvalidLength, 10}));
  session.answer_delivery(9, wire::kSmppOk);
  units = units_of(session.take_output());
  EXPECT_EQ(units.at(0).header, (SmppHeader{SmppCommand::deliver_sm_resp, 0, 9}));
}

TEST(SmppSession, either_side_may_unbind) {
  SmppSession theirs = bound();
  theirs.on_bytes(plain(SmppCommand::unbind, 4), kStart);
  EXPECT_EQ(theirs.end(), "the provider ended the session");
  EXPECT_EQ(units_of(theirs.take_output()).at(0).header.command, SmppCommand::unbind_resp);
  SmppSession ours = bound();
  ours.unbind(kStart);
  const auto units = units_of(ours.take_output());
  EXPECT_EQ(units.at(0).header.command, SmppCommand::unbind);
  EXPECT_FALSE(ours.has_room());
  ours.on_bytes(plain(SmppCommand::unbind_resp, units[0].header.sequence), kStart);
  EXPECT_TRUE(ours.has_left());
}

TEST(SmppOutcome, statuses_mean_what_the_protocol_says) {
  EXPECT_EQ(told(judge_status(0)), "done: ESME_ROK (0x00)");
  EXPECT_EQ(told(judge_status(0x58)), "slow_down: ESME_RTHROTTLED (0x58)");
  EXPECT_EQ(told(judge_status(0x14)), "slow_down: ESME_RMSGQFUL (0x14)");
  EXPECT_EQ(told(judge_status(0x0B)), "refused: ESME_RINVDSTADR (0x0b)");
  EXPECT_EQ(told(judge_status(0x08)), "failed: ESME_RSYSERR (0x08)");
  EXPECT_EQ(told(judge_status(0x400)), "failed: status 0x400");
}

// A messenger, a session, and what the provider would say.
class Messenger : public testing::Test {
 protected:
  void add(const std::string& id, const std::string& text,
           std::optional<Micros> patience = std::nullopt) {
    Handover item{.type = ItemType::trusted("SMS"), .id = ItemId::trusted(id)};
    item.context = R"({"userId":5,"to":"+4915","message":")" + text + "\"}";
    item.patience = patience;
    messenger_.add(std::move(item), answers_.taker(), now_);
    pump();
  }
  void pump() {
    messenger_.pump(session_, now_);
    collect();
  }
  void collect() {
    for (Unit& unit : units_of(session_.take_output())) submits_.push_back(std::move(unit));
  }
  void reply(std::size_t submit, std::uint32_t status, std::string_view id) {
    session_.on_bytes(
        answer(SmppCommand::submit_sm_resp, submits_.at(submit).header.sequence, status, id), now_);
    messenger_.take_answers(session_, now_);
    collect();
  }
  std::string last() { return told(answers_.wait(answers_.size()).back()); }
  std::uint8_t part_of(std::size_t submit) {
    return static_cast<std::uint8_t>(wire::decode_smpp_message(submits_.at(submit).body)->text[5]);
  }

  static SmppSettings settings() {
    SmppSettings settings;
    settings.timeout = Seconds{10};
    settings.source = "Shop";
    return settings;
  }

  Micros now_ = kStart;
  Answers answers_;
  std::vector<std::vector<std::string>> taken_;
  SmppSession session_ = bound(3);
  std::vector<Unit> submits_;
  SmppMessenger messenger_{
      settings(),
      [this](const ItemId&, std::vector<std::string> references, Sink::Done done) {
        taken_.push_back(std::move(references));
        done({.outcome = SinkOutcome::done, .detail = "taken"});
      },
      [](SinkOutcome) {}};
};

TEST_F(Messenger, sends_one_part) {
  add("m", "Hi");
  ASSERT_EQ(submits_.size(), 1U);
  const auto message = wire::decode_smpp_message(submits_[0].body);
  EXPECT_EQ(message->text, "Hi");
  EXPECT_EQ(message->destination, (wire::SmppAddress{.ton = 1, .npi = 1, .number = "4915"}));
  EXPECT_EQ(message->source, (wire::SmppAddress{.ton = 5, .npi = 0, .number = "Shop"}));
  EXPECT_EQ(message->registered_delivery, 1);
  reply(0, 0, "x");
  EXPECT_EQ(taken_, (std::vector<std::vector<std::string>>{{"x"}}));
  EXPECT_EQ(last(), "done: taken");
}

TEST_F(Messenger, is_done_when_all_parts_were_taken) {
  add("m", std::string(153 * 5, 'a'));
  EXPECT_EQ(submits_.size(), 3U) << "the window";
  reply(1, 0, "b");
  reply(0, 0, "a");
  reply(2, 0, "c");
  EXPECT_EQ(answers_.size(), 0U);
  reply(3, 0, "d");
  reply(4, 0, "e");
  EXPECT_EQ(taken_, (std::vector<std::vector<std::string>>{{"a", "b", "c", "d", "e"}}));
}

TEST_F(Messenger, sends_only_what_is_missing_after_a_throttled_part) {
  const std::string text(153 * 3, 'a');
  add("m", text);
  reply(0, 0, "a");
  reply(1, 0x58, "");
  EXPECT_EQ(answers_.size(), 0U) << "another part is under way";
  reply(2, 0, "c");
  EXPECT_EQ(last(), "slow_down: ESME_RTHROTTLED (0x58)");
  add("m", text);
  ASSERT_EQ(submits_.size(), 4U);
  EXPECT_EQ(part_of(3), 2);
  reply(3, 0, "b");
  EXPECT_EQ(taken_, (std::vector<std::vector<std::string>>{{"a", "b", "c"}}));
}

TEST_F(Messenger, a_refused_part_refuses_the_message_and_sends_no_more) {
  add("m", std::string(153 * 5, 'a'));
  reply(0, 0x58, "");
  reply(1, 0x0B, "");
  reply(2, 0, "c");
  EXPECT_EQ(submits_.size(), 3U);
  EXPECT_EQ(last(), "refused: ESME_RINVDSTADR (0x0b)");
}

TEST_F(Messenger, what_was_under_way_fails_with_the_connection_and_the_rest_comes_back) {
  for (int i = 0; i < 4; ++i) add("m" + std::to_string(i), "Hi");
  ASSERT_EQ(submits_.size(), 3U);
  messenger_.on_lost("gone", Millis{500});
  const auto answers = answers_.wait(4);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(told(answers[i]), "failed: gone");
  EXPECT_EQ(told(answers[3]), "slow_down: gone 500");
}

TEST_F(Messenger, times_out_and_ignores_what_comes_then) {
  add("m", "Hi");
  EXPECT_EQ(messenger_.wake_at(), kStart + Seconds{10});
  now_ += Seconds{10};
  messenger_.on_time(&session_, now_);
  EXPECT_EQ(last(), "failed: timed out after 10000 ms");
  reply(0, 0, "x");
  EXPECT_TRUE(taken_.empty());
  EXPECT_EQ(answers_.size(), 1U);
  EXPECT_TRUE(session_.has_room());
}

TEST_F(Messenger, gives_back_what_is_too_late) {
  for (int i = 0; i < 3; ++i) add("m" + std::to_string(i), "Hi");
  add("late", "Hi", Millis{100});
  now_ += Seconds{1};
  reply(0, 0, "x");
  const auto answers = answers_.wait(2);
  EXPECT_EQ(answers[1].outcome, SinkOutcome::late);
  ASSERT_TRUE(answers[1].unsent);
  EXPECT_EQ(answers[1].unsent->id.str(), "late");
  EXPECT_EQ(submits_.size(), 3U);
}

TEST_F(Messenger, refuses_what_is_no_message) {
  Handover item{.type = ItemType::trusted("SMS"), .id = ItemId::trusted("m")};
  item.context = R"({"a":1})";
  messenger_.add(std::move(item), answers_.taker(), now_);
  EXPECT_TRUE(last().starts_with("refused: this item is no message: message")) << last();
}

TEST(SmppParts, a_message_that_is_sent_again_has_the_same_parts) {
  const std::string context = R"({"userId":5,"message":")" + std::string(200, 'x') + "\"}";
  const auto one = smpp_parts_of(context, ItemId::trusted("m-1"));
  const auto again = smpp_parts_of(context, ItemId::trusted("m-1"));
  ASSERT_TRUE(one && again);
  EXPECT_EQ(one->texts, again->texts);
  EXPECT_EQ(one->destination, (wire::SmppAddress{.ton = 0, .npi = 1, .number = "5"}));
  ASSERT_EQ(one->texts.size(), 2U);
  EXPECT_EQ(one->texts[1].substr(0, 3) + one->texts[1].substr(4, 2),
            std::string("\x05\x00\x03\x02\x02", 5));
}

}  // namespace
}  // namespace penstock::sink
