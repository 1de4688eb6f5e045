#include "front/http/server/reply.h"

#include <gtest/gtest.h>

#include <array>

namespace penstock::front {
namespace {

// Sessions are only addresses here.
struct SessionPlaces {
  Session* session(int i) {
    return reinterpret_cast<Session*>(&bytes[static_cast<std::size_t>(i)]);
  }
  std::array<char, 8> bytes;
};

class InboxTest : public testing::Test {
 protected:
  Inbox::Answers take() {
    Inbox::Answers answers;
    Inbox::Sockets sockets;
    Inbox::Events events;
    inbox_->take(answers, sockets, events);
    return answers;
  }

  SessionPlaces place_;
  int wakes_ = 0;
  std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>([this] { ++wakes_; });
};

TEST_F(InboxTest, many_answers_wake_once) {
  for (int i = 0; i < 5; ++i) make_reply(inbox_, place_.session(i))({.status = 200 + i});
  EXPECT_EQ(wakes_, 1);
  const auto answers = take();
  ASSERT_EQ(answers.size(), 5U);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(answers[static_cast<std::size_t>(i)].first, place_.session(i));
    EXPECT_EQ(answers[static_cast<std::size_t>(i)].second->status, 200 + i);
  }
  make_reply(inbox_, place_.session(0))({.status = 200});
  EXPECT_EQ(wakes_, 2);
}

TEST_F(InboxTest, a_dropped_reply_answers_nothing) {
  {
    const Reply dropped = make_reply(inbox_, place_.session(3));
  }
  const auto answers = take();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].first, place_.session(3));
  EXPECT_FALSE(answers[0].second);
}

TEST_F(InboxTest, a_moved_reply_answers_once) {
  Reply first = make_reply(inbox_, place_.session(1));
  Reply second = std::move(first);
  first = nullptr;
  EXPECT_TRUE(take().empty());
  second({.status = 201});
  second = nullptr;
  EXPECT_EQ(take().size(), 1U);
}

TEST_F(InboxTest, answers_given_inside_the_handler_take_the_short_way) {
  HandlerCall call(place_.session(1));
  make_reply(inbox_, place_.session(2))({.status = 200});
  EXPECT_FALSE(call.answered);
  make_reply(inbox_, place_.session(1))({.status = 204});
  EXPECT_TRUE(call.answered);
  EXPECT_EQ(call.answer->status, 204);
  EXPECT_EQ(take().size(), 1U);
}

TEST_F(InboxTest, takes_nothing_once_closed) {
  ASSERT_TRUE(inbox_->push(AcceptedSocket{.fd = 7}));
  EXPECT_EQ(inbox_->close().at(0).fd, 7);
  EXPECT_FALSE(inbox_->push(AcceptedSocket{.fd = 8}));
  make_reply(inbox_, place_.session(1))({.status = 200});
  EXPECT_TRUE(take().empty());
  EXPECT_EQ(wakes_, 1);
}

TEST_F(InboxTest, second_answer_is_our_bug) {
  EXPECT_DEATH(
      {
        Reply reply = make_reply(inbox_, place_.session(1));
        reply({.status = 200});
        reply({.status = 200});
      },
      "session_");
}

}  // namespace
}  // namespace penstock::front
