// MULTI and EXEC, which some clients wrap around every pipeline: the answers are those of Redis 7.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "front/resp/testing/session.h"

namespace penstock::front {
namespace {

TEST_F(RespSessionTest, runs_what_was_queued_and_answers_in_one_array) {
  EXPECT_EQ(send("MULTI\r\nCL.THROTTLE k 2 1 60\r\nECHO x\r\nCL.THROTTLE k 2 1 60\r\n"),
            "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n");
  EXPECT_TRUE(limits_.batches.empty()) << "nothing is charged before EXEC";
  EXPECT_EQ(send("EXEC\r\nPING\r\n"),
            "*3\r\n*5\r\n:0\r\n:3\r\n:2\r\n:-1\r\n:60\r\n$1\r\nx\r\n"
            "*5\r\n:0\r\n:3\r\n:1\r\n:-1\r\n:120\r\n+PONG\r\n");
}

TEST_F(RespSessionTest, decides_the_calls_of_a_transaction_together) {
  std::string all = "MULTI\r\n";
  for (int i = 0; i < 100; ++i) all += "CL.THROTTLE k 99 1 60\r\n";
  const std::string replies = send(all + "EXEC\r\n");
  EXPECT_EQ(limits_.batches, (std::vector<std::size_t>{64, 36}));
  EXPECT_TRUE(replies.ends_with(":0\r\n:100\r\n:0\r\n:-1\r\n:6000\r\n"));
}

TEST_F(RespSessionTest, answers_calls_before_a_transaction_first) {
  EXPECT_EQ(send("CL.THROTTLE k 2 1 60 0\r\nMULTI\r\nEXEC\r\nCL.THROTTLE k 2 1 60 0\r\n"),
            "*5\r\n:0\r\n:3\r\n:3\r\n:-1\r\n:0\r\n+OK\r\n*0\r\n"
            "*5\r\n:0\r\n:3\r\n:3\r\n:-1\r\n:0\r\n");
}

TEST_F(RespSessionTest, forgets_a_transaction_that_is_discarded) {
  EXPECT_EQ(send("MULTI\r\nCL.THROTTLE k 2 1 60\r\nDISCARD\r\nPING\r\n"),
            "+OK\r\n+QUEUED\r\n+OK\r\n+PONG\r\n");
  EXPECT_EQ(send("MULTI\r\nCL.THROTTLE k 2 1 60\r\nRESET\r\nEXEC\r\n"),
            "+OK\r\n+QUEUED\r\n+RESET\r\n-ERR EXEC without MULTI\r\n");
  EXPECT_EQ(send("DISCARD\r\n"), "-ERR DISCARD without MULTI\r\n");
  EXPECT_TRUE(limits_.batches.empty());
}

TEST_F(RespSessionTest, runs_nothing_of_a_transaction_with_a_mistake) {
  EXPECT_EQ(send("MULTI\r\nCL.THROTTLE k 2 1 60\r\nGET x\r\nCL.THROTTLE k 2 1 60\r\nEXEC\r\n"),
            "+OK\r\n+QUEUED\r\n-ERR unknown command 'GET', with args beginning with: 'x' \r\n"
            "+QUEUED\r\n-EXECABORT Transaction discarded because of previous errors.\r\n");
  EXPECT_EQ(send("MULTI\r\nECHO\r\nEXEC\r\nPING\r\n"),
            "+OK\r\n-ERR wrong number of arguments for 'echo' command\r\n"
            "-EXECABORT Transaction discarded because of previous errors.\r\n+PONG\r\n");
  EXPECT_TRUE(limits_.batches.empty());
}

TEST_F(RespSessionTest, answers_a_call_that_makes_no_sense_in_its_place) {
  EXPECT_EQ(send("MULTI\r\nCL.THROTTLE k x 1 60\r\nSELECT 1\r\nPING\r\nEXEC\r\n"),
            "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n-ERR Couldn't parse as integer: x\r\n"
            "-ERR DB index is out of range\r\n+PONG\r\n");
}

TEST_F(RespSessionTest, does_not_nest_transactions) {
  EXPECT_EQ(send("MULTI\r\nMULTI\r\nPING\r\nEXEC\r\n"),
            "+OK\r\n-ERR MULTI calls can not be nested\r\n+QUEUED\r\n*1\r\n+PONG\r\n");
}

TEST_F(RespSessionTest, quits_in_a_transaction) {
  EXPECT_EQ(send("MULTI\r\nCL.THROTTLE k 2 1 60\r\nQUIT\r\nEXEC\r\n"), "+OK\r\n+QUEUED\r\n+OK\r\n");
  EXPECT_TRUE(closed_);
  EXPECT_TRUE(limits_.batches.empty());
}

TEST_F(RespSessionTest, bounds_the_calls_of_a_transaction) {
  std::string all = "MULTI\r\n";
  for (int i = 0; i < 10'000; ++i) all += "CL.THROTTLE some:key:of:a:client 999999 1 1\r\n";
  EXPECT_TRUE(send(all + "EXEC\r\n").ends_with(":10000\r\n"));
  EXPECT_TRUE(send(all + "PING\r\n").ends_with("-ERR too big transaction\r\n"));
  EXPECT_EQ(session_->queued_bytes(), 0U) << "nothing of it will be run";
  EXPECT_EQ(send("PING\r\nEXEC\r\nPING\r\n"),
            "+QUEUED\r\n-EXECABORT Transaction discarded because of previous errors.\r\n+PONG\r\n");
}

TEST_F(RespSessionTest, bounds_the_bytes_of_a_transaction) {
  const std::string call = "ECHO " + std::string(60'000, 'x') + "\r\n";
  send("MULTI\r\n");
  for (int i = 0; i < 17; ++i) EXPECT_EQ(send(call), "+QUEUED\r\n");
  EXPECT_GT(session_->queued_bytes(), 1'000'000U);
  EXPECT_EQ(send(call), "-ERR too big transaction\r\n");
  EXPECT_TRUE(send("EXEC\r\n").starts_with("-EXECABORT "));
}

TEST_F(RespSessionTest, bounds_the_replies_of_a_transaction) {
  std::string all = "MULTI\r\n";
  for (int i = 0; i < 1'000; ++i) all += "COMMAND\r\n";
  EXPECT_LT(send(all + "EXEC\r\n").size(), 1'200'000U);
  EXPECT_TRUE(send(all + all).ends_with("+QUEUED\r\n"));
  EXPECT_TRUE(send("EXEC\r\n").starts_with("-EXECABORT "));
}

TEST_F(RespSessionTest, answers_a_transaction_the_same_wherever_the_input_is_cut) {
  const std::string text =
      "MULTI\r\n*5\r\n$11\r\ncl.throttle\r\n$1\r\nk\r\n$1\r\n4\r\n$1\r\n1\r\n$1\r\n1\r\n"
      "ECHO \"\\r\\n\"\r\n*1\r\n$4\r\nEXEC\r\nPING\r\n";
  const std::string expected =
      "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n*5\r\n:0\r\n:5\r\n:4\r\n:-1\r\n:1\r\n$2\r\n\r\n\r\n"
      "+PONG\r\n";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    at(Seconds{10 * static_cast<std::int64_t>(cut)});
    const std::string first = send(text.substr(0, cut));
    EXPECT_EQ(first + send(text.substr(cut)), expected) << cut;
  }
}

TEST_F(RespSessionTest, begins_no_transaction_before_the_password) {
  open("secret");
  EXPECT_EQ(send("MULTI\r\nEXEC\r\n"),
            "-NOAUTH Authentication required.\r\n-NOAUTH Authentication required.\r\n");
}

}  // namespace
}  // namespace penstock::front
