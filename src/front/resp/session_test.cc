#include "front/resp/session.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "front/resp/testing/session.h"
#include "wire/resp_writer.h"

namespace penstock::front {
namespace {

// The rows of redis-cell, in their order.
TEST_F(RespSessionTest, throttles_as_redis_cell_does) {
  EXPECT_EQ(throttle("first 15 30 60"), "0 16 15 -1 2");

  EXPECT_EQ(throttle("k 4 1 1 6"), "1 5 5 -1 0");
  EXPECT_EQ(throttle("k 4 1 1"), "0 5 4 -1 1");
  EXPECT_EQ(throttle("k 4 1 1"), "0 5 3 -1 2");
  EXPECT_EQ(throttle("k 4 1 1"), "0 5 2 -1 3");
  EXPECT_EQ(throttle("k 4 1 1"), "0 5 1 -1 4");
  EXPECT_EQ(throttle("k 4 1 1"), "0 5 0 -1 5");
  EXPECT_EQ(throttle("k 4 1 1"), "1 5 0 1 5");
  at(Millis{3'000});
  EXPECT_EQ(throttle("k 4 1 1"), "0 5 2 -1 3");
  at(Millis{3'100});
  EXPECT_EQ(throttle("k 4 1 1"), "0 5 1 -1 4");
  at(Millis{4'000});
  EXPECT_EQ(throttle("k 4 1 1"), "0 5 1 -1 4");
  at(Millis{8'000});
  EXPECT_EQ(throttle("k 4 1 1"), "0 5 4 -1 1");
  at(Millis{9'500});
  EXPECT_EQ(throttle("k 4 1 1"), "0 5 4 -1 1");
  EXPECT_EQ(throttle("k 4 1 1 0"), "0 5 4 -1 1");
  EXPECT_EQ(throttle("k 4 1 1 2"), "0 5 2 -1 3");
  EXPECT_EQ(throttle("k 4 1 1 5"), "1 5 2 3 3");
}

TEST_F(RespSessionTest, opens_again_when_it_said) {
  EXPECT_EQ(throttle("k 0 1 2"), "0 1 0 -1 2");
  EXPECT_EQ(throttle("k 0 1 2"), "1 1 0 2 2");
  at(Millis{2'000});
  EXPECT_EQ(throttle("k 0 1 2"), "0 1 0 -1 2");
}

TEST_F(RespSessionTest, drops_what_is_less_than_a_millisecond) {
  EXPECT_EQ(throttle("k 0 10000 1"), "0 1 0 -1 0");
  EXPECT_EQ(throttle("k 0 10000 1"), "1 1 0 0 0");
}

TEST_F(RespSessionTest, gives_back_and_never_more_than_the_limit) {
  EXPECT_EQ(throttle("k 2 60 60 3"), "0 3 0 -1 3");
  EXPECT_EQ(throttle("k 2 60 60 1"), "1 3 0 1 3");
  EXPECT_EQ(throttle("k 2 60 60 -1"), "0 3 1 -1 2");
  EXPECT_EQ(throttle("k 2 60 60 1"), "0 3 0 -1 3");
  EXPECT_EQ(throttle("k 2 60 60 -100"), "0 3 3 -1 0");
  EXPECT_EQ(throttle("k 2 60 60 -9223372036854775808"), "0 3 3 -1 0");
  EXPECT_EQ(throttle("k 2 60 60 9223372036854775807"), "1 3 3 -1 0");
}

TEST_F(RespSessionTest, refuses_calls_that_make_no_sense) {
  const std::string usage =
      "-ERR Usage: CL.THROTTLE <key> <max_burst> <count per period> <period> [<quantity>]\r\n";
  EXPECT_EQ(throttle(""), usage);
  EXPECT_EQ(throttle("k 1 2"), usage);
  EXPECT_EQ(throttle("k 1 2 3 4 5"), usage);
  EXPECT_EQ(throttle("k x 1 1"), "-ERR Couldn't parse as integer: x\r\n");
  EXPECT_EQ(throttle("k 1 1.5 1"), "-ERR Couldn't parse as integer: 1.5\r\n");
  EXPECT_EQ(throttle("k 1 1 1 ''"), "-ERR Couldn't parse as integer: \r\n");
  EXPECT_EQ(throttle("k 1 1 1 +-1"), "-ERR Couldn't parse as integer: +-1\r\n");
  EXPECT_EQ(throttle("k 9223372036854775808 1 1"),
            "-ERR Couldn't parse as integer: 9223372036854775808\r\n");
  EXPECT_EQ(throttle("k 1 0 1"), "-ERR Zero rates are not supported\r\n");
  EXPECT_EQ(throttle("k 1 1 0"), "-ERR Zero rates are not supported\r\n");
  EXPECT_EQ(throttle("k -1 1 1"), "-ERR max_burst: must be from 0 to 999999999999\r\n");
  EXPECT_EQ(throttle("k 9223372036854775807 1 1"),
            "-ERR max_burst: must be from 0 to 999999999999\r\n");
  EXPECT_EQ(throttle("k 1 -1 1"), "-ERR count: must be greater than 0\r\n");
  EXPECT_EQ(throttle("k 1 1 -1"), "-ERR period: must be from 1 to 1000000000 seconds\r\n");
  EXPECT_EQ(throttle(std::string(512, 'k') + " 1 1 1"),
            "-ERR key: must have at most 511 bytes\r\n");
  EXPECT_EQ(throttle("k +1 +1 +1"), "0 2 1 -1 1");
  EXPECT_EQ(throttle(std::string(511, 'k') + " 1 1 1"), "0 2 1 -1 1");
  EXPECT_EQ(throttle("'' 1 1 1"), "0 2 1 -1 1");
  EXPECT_EQ(throttle("k 999999999999 1 1"), "0 1000000000000 999999999998 -1 2");
}

TEST_F(RespSessionTest, forgets_keys_that_are_deleted) {
  EXPECT_EQ(throttle("k 0 1 60"), "0 1 0 -1 60");
  EXPECT_EQ(throttle("other 0 1 60"), "0 1 0 -1 60");
  EXPECT_EQ(send("DEL k nobody\r\n"), ":1\r\n");
  EXPECT_EQ(throttle("k 0 1 60"), "0 1 0 -1 60");
  EXPECT_EQ(throttle("other 0 1 60"), "1 1 0 60 60") << "of nobody else";
  // In the order of a pipeline, with the calls around it.
  EXPECT_EQ(send("CL.THROTTLE p 0 1 60\r\nDEL p\r\nCL.THROTTLE p 0 1 60\r\n"),
            "*5\r\n:0\r\n:1\r\n:0\r\n:-1\r\n:60\r\n:1\r\n*5\r\n:0\r\n:1\r\n:0\r\n:-1\r\n:60\r\n");
  EXPECT_EQ(send("DEL " + std::string(600, 'a') + "\r\n"), ":0\r\n");
  EXPECT_EQ(send("DEL\r\n"), "-ERR wrong number of arguments for 'del' command\r\n");
  std::string many = "DEL";
  for (int i = 0; i < 65; ++i) many += " k";
  EXPECT_EQ(send(many + "\r\n"), "-ERR at most 64 keys at once\r\n");
  EXPECT_TRUE(send("COMMAND INFO del\r\n").starts_with("*1\r\n*10\r\n$3\r\ndel\r\n:-2\r\n"));
  limits_.away = true;
  EXPECT_EQ(send("DEL k\r\n"), "-ERR the store is away\r\n");
}

TEST_F(RespSessionTest, keeps_its_keys_apart_from_those_of_policies) {
  throttle("k 4 1 1");
  EXPECT_FALSE(*limits_.find("k", {}));
  EXPECT_TRUE(*limits_.find(std::string(1, kThrottleKeyPrefix) + "k", {}));
}

TEST_F(RespSessionTest, decides_what_arrived_together_in_one_go_and_in_order) {
  const std::string call = "CL.THROTTLE k 2 1 60\r\n";
  const std::string replies =
      send(call + call + "ECHO x\r\n" + call + call + "CL.THROTTLE\r\n" + call);
  EXPECT_EQ(limits_.batches, (std::vector<std::size_t>{2, 2, 1}));
  EXPECT_EQ(
      replies,
      "*5\r\n:0\r\n:3\r\n:2\r\n:-1\r\n:60\r\n*5\r\n:0\r\n:3\r\n:1\r\n:-1\r\n:120\r\n$1\r\nx\r\n"
      "*5\r\n:0\r\n:3\r\n:0\r\n:-1\r\n:180\r\n*5\r\n:1\r\n:3\r\n:0\r\n:60\r\n:180\r\n"
      "-ERR Usage: CL.THROTTLE <key> <max_burst> <count per period> <period> [<quantity>]\r\n"
      "*5\r\n:1\r\n:3\r\n:0\r\n:60\r\n:180\r\n");
}

TEST_F(RespSessionTest, is_counted_with_all_decisions) {
  send("CL.THROTTLE k 1 1 60\r\nCL.THROTTLE k 1 1 60\r\nCL.THROTTLE k 1 1 60\r\n");
  send("CL.THROTTLE k 1 1 60 0\r\nCL.THROTTLE k 1 1 60 -1\r\n");
  const core::ThrottleTotals totals = (*throttle_)->totals();
  EXPECT_EQ(totals.allowed, 2U) << "looking and giving back are no requests";
  EXPECT_EQ(totals.blocked, 1U);
  EXPECT_EQ((*throttle_)->client_totals().allowed, 4U);
  EXPECT_EQ((*throttle_)->client_totals().limited, 1U);
  const std::vector<service::DeniedKey> denied = (*throttle_)->top_denied(10);
  ASSERT_EQ(denied.size(), 1U);
  EXPECT_EQ(denied[0].key, "\x01k");
  EXPECT_EQ(denied[0].denied, 1U);
  EXPECT_NE(send("INFO stats\r\n").find("throttle_allowed:4\r\nthrottle_limited:1\r\n"),
            std::string::npos);
}

TEST_F(RespSessionTest, says_so_when_the_limits_cannot_be_asked) {
  limits_.away = true;
  EXPECT_EQ(throttle("k 4 1 1"), "-ERR the store is away\r\n");
  EXPECT_EQ((*throttle_)->client_totals().errors, 1U);
  limits_.away_because = "near '\r\n:1\r\n'";  // as an engine quotes what it did not like
  EXPECT_EQ(throttle("k 4 1 1"), "-ERR near '  :1  '\r\n");
}

TEST_F(RespSessionTest, answers_thousands_of_pipelined_requests_in_order) {
  std::string all;
  std::string expected;
  for (int i = 0; i < 10'000; ++i) {
    wire::append_resp_request(all, {"CL.THROTTLE", "k", "9999", "1", "1"});
    wire::RespWriter(expected, wire::RespVersion::v2)
        .array(5)
        .integer(0)
        .integer(10'000)
        .integer(9'999 - i)
        .integer(-1)
        .integer(i + 1);
  }
  EXPECT_EQ(send(all), expected);
  EXPECT_EQ(limits_.batches.size(), 157U);  // of 64
}

TEST_F(RespSessionTest, answers_the_same_wherever_the_input_is_cut) {
  const std::string text =
      "*5\r\n$11\r\ncl.throttle\r\n$1\r\nk\r\n$1\r\n4\r\n$1\r\n1\r\n$1\r\n1\r\nPING\r\n"
      "*2\r\n$4\r\nECHO\r\n$5\r\na\r\nbc\r\n";
  const std::string expected = "*5\r\n:0\r\n:5\r\n:4\r\n:-1\r\n:1\r\n+PONG\r\n$5\r\na\r\nbc\r\n";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    at(Seconds{10 * static_cast<std::int64_t>(cut)});
    const std::string first = send(text.substr(0, cut));
    EXPECT_EQ(first + send(text.substr(cut)), expected) << cut;
  }
}

TEST_F(RespSessionTest, stops_when_there_is_enough_to_send) {
  std::string out;
  std::string in;
  for (int i = 0; i < 5; ++i) wire::append_resp_request(in, {"ECHO", std::string(30'000, 'x')});
  const RespSession::Turn turn = session_->handle(in, *batch_, out);
  EXPECT_TRUE(turn.full);
  EXPECT_LT(turn.consumed, in.size());
  EXPECT_LT(out.size(), RespSession::kReplyBytes + 30'100);
}

TEST_F(RespSessionTest, hangs_up_after_a_protocol_error) {
  EXPECT_EQ(send("PING\r\n*1\r\n+x\r\nPING\r\n"),
            "+PONG\r\n-ERR Protocol error: expected '$', got '+'\r\n");
  EXPECT_TRUE(closed_);
}

// A web page can make its visitor's browser send this to a listener on loopback.
TEST_F(RespSessionTest, hangs_up_on_http_and_runs_nothing_of_it) {
  EXPECT_EQ(send("POST / HTTP/1.1\r\nHost: x\r\n\r\nCL.THROTTLE k 4 1 1\r\n"), "");
  EXPECT_TRUE(closed_);
  open("secret");
  EXPECT_EQ(send("GET / HTTP/1.1\r\nhost: x\r\nAUTH secret\r\nCL.THROTTLE k 4 1 1\r\n"),
            "-ERR unknown command 'GET', with args beginning with: '/' 'HTTP/1.1' \r\n");
  EXPECT_TRUE(closed_);
  EXPECT_EQ(state_->metrics.protocol_errors.value(), 1U);
  EXPECT_TRUE(limits_.batches.empty());
}

TEST_F(RespSessionTest, speaks_as_redis_does) {
  EXPECT_EQ(send("PING\r\nping hi\r\n"), "+PONG\r\n$2\r\nhi\r\n");
  EXPECT_EQ(send("ping a b\r\n"), "-ERR wrong number of arguments for 'ping' command\r\n");
  EXPECT_EQ(send("ECHO\r\n"), "-ERR wrong number of arguments for 'echo' command\r\n");
  EXPECT_EQ(send("GET a b\r\n"),
            "-ERR unknown command 'GET', with args beginning with: 'a' 'b' \r\n");
  EXPECT_EQ(send("\"a\\r\\nb\"\r\n"),
            "-ERR unknown command 'a  b', with args beginning with: \r\n");
  EXPECT_EQ(send("SELECT 0\r\n"), "+OK\r\n");
  EXPECT_EQ(send("SELECT 1\r\n"), "-ERR DB index is out of range\r\n");
  EXPECT_EQ(send("SELECT x\r\n"), "-ERR value is not an integer or out of range\r\n");
  EXPECT_EQ(send("CONFIG GET save\r\n"), "*2\r\n$4\r\nsave\r\n$0\r\n\r\n");
  EXPECT_EQ(send("CONFIG GET nothing\r\n"), "*0\r\n");
  EXPECT_EQ(send("CONFIG SET a b\r\n"), "-ERR unknown subcommand 'SET'. Try CONFIG HELP.\r\n");
  EXPECT_EQ(send("COMMAND COUNT\r\n"), ":16\r\n");
  EXPECT_EQ(send("COMMAND DOCS\r\n"), "*0\r\n");
  EXPECT_TRUE(send("COMMAND INFO cl.throttle nope\r\n")
                  .starts_with("*2\r\n*10\r\n$11\r\ncl.throttle\r\n:-5\r\n*2\r\n+write\r\n+fast\r\n"
                               ":1\r\n:1\r\n:1\r\n"));
  EXPECT_NE(send("INFO\r\n").find("redis_version:7.0.0\r\n"), std::string::npos);
}

TEST_F(RespSessionTest, reads_numbers_as_redis_does) {
  EXPECT_EQ(send("SELECT 00\r\n"), "-ERR value is not an integer or out of range\r\n");
  EXPECT_EQ(send("HELLO 03\r\n"), "-ERR Protocol version is not an integer or out of range\r\n");
}

TEST_F(RespSessionTest, refuses_what_commands_cannot_mean) {
  EXPECT_EQ(send("COMMAND COUNT x\r\n"),
            "-ERR wrong number of arguments for 'command|count' command\r\n");
  EXPECT_EQ(send("COMMAND LIST x\r\n"), "-ERR syntax error\r\n");
  EXPECT_EQ(send("CLIENT NO-EVICT maybe\r\n"), "-ERR syntax error\r\n");
  EXPECT_EQ(send("CLIENT NO-TOUCH OFF\r\n"), "+OK\r\n");
  EXPECT_EQ(send("CLIENT SETINFO colour x\r\n"), "-ERR Unrecognized option 'colour'\r\n");
  EXPECT_EQ(send("CLIENT SETINFO LIB-NAME 'a b'\r\n"),
            "-ERR lib-name cannot contain spaces, newlines or special characters.\r\n");
}

TEST_F(RespSessionTest, has_the_help_that_its_errors_name) {
  EXPECT_TRUE(send("CLIENT HELP\r\n").starts_with("*17\r\n+CLIENT <subcommand> "));
  EXPECT_TRUE(send("command help\r\n").starts_with("*13\r\n+COMMAND <subcommand> "));
  EXPECT_TRUE(send("CONFIG HELP\r\n").ends_with("+HELP\r\n+    Print this help.\r\n"));
  EXPECT_EQ(send("CLIENT HELP x\r\n"),
            "-ERR wrong number of arguments for 'client|help' command\r\n");
}

TEST_F(RespSessionTest, shows_the_sections_that_are_asked_for) {
  EXPECT_EQ(send("INFO replication\r\n"),
            "$48\r\n# Replication\r\nrole:master\r\nconnected_slaves:0\r\n\r\n");
  EXPECT_EQ(send("INFO nothing\r\n"), "$0\r\n\r\n");
  EXPECT_EQ(send("INFO ALL\r\n"), send("INFO\r\n"));
  const std::string two = send("INFO server Clients\r\n");
  EXPECT_NE(two.find("# Server"), std::string::npos);
  EXPECT_NE(two.find("\r\n\r\n# Clients"), std::string::npos);
  EXPECT_EQ(two.find("# Stats"), std::string::npos);
}

TEST_F(RespSessionTest, knows_its_client) {
  EXPECT_EQ(send("CLIENT ID\r\n"), ":7\r\n");
  EXPECT_EQ(send("CLIENT GETNAME\r\n"), "$-1\r\n");
  EXPECT_EQ(send("CLIENT SETNAME pay\r\nCLIENT GETNAME\r\n"), "+OK\r\n$3\r\npay\r\n");
  EXPECT_EQ(send("CLIENT SETNAME 'a b'\r\n"),
            "-ERR Client names cannot contain spaces, newlines or special characters.\r\n");
  EXPECT_EQ(send("CLIENT SETINFO lib-name x\r\nCLIENT NO-EVICT on\r\n"), "+OK\r\n+OK\r\n");
  EXPECT_NE(send("CLIENT INFO\r\n").find("id=7 name=pay age=0 "), std::string::npos);
  EXPECT_EQ(send("CLIENT ID x\r\n"), "-ERR wrong number of arguments for 'client|id' command\r\n");
  EXPECT_EQ(send("CLIENT KILL x\r\n"), "-ERR unknown subcommand 'KILL'. Try CLIENT HELP.\r\n");
  EXPECT_EQ(send("RESET\r\nCLIENT GETNAME\r\n"), "+RESET\r\n$-1\r\n");
}

TEST_F(RespSessionTest, changes_the_version_of_the_protocol) {
  EXPECT_EQ(
      send("HELLO 3 SETNAME me\r\n"),
      "%7\r\n$6\r\nserver\r\n$8\r\npenstock\r\n$7\r\nversion\r\n$5\r\n7.0.0\r\n$5\r\nproto\r\n"
      ":3\r\n$2\r\nid\r\n:7\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n"
      "$7\r\nmodules\r\n*0\r\n");
  EXPECT_EQ(send("CONFIG GET appendonly\r\n"), "%1\r\n$10\r\nappendonly\r\n$2\r\nno\r\n");
  EXPECT_TRUE(send("HELLO 2\r\n").starts_with("*14\r\n"));
  EXPECT_EQ(send("HELLO 4\r\n"), "-NOPROTO unsupported protocol version\r\n");
  EXPECT_EQ(send("HELLO x\r\n"), "-ERR Protocol version is not an integer or out of range\r\n");
  EXPECT_EQ(send("HELLO 3 AUTH a\r\n"), "-ERR Syntax error in HELLO option 'AUTH'\r\n");
  EXPECT_EQ(send("CLIENT GETNAME\r\n"), "$2\r\nme\r\n");
}

TEST_F(RespSessionTest, quits) {
  EXPECT_EQ(send("QUIT\r\nPING\r\n"), "+OK\r\n");
  EXPECT_TRUE(closed_);
}

TEST_F(RespSessionTest, asks_for_the_password) {
  open("secret");
  const std::string no = "-NOAUTH Authentication required.\r\n";
  EXPECT_EQ(send("PING\r\n"), no);
  EXPECT_EQ(throttle("k 1 1 1"), no);
  EXPECT_TRUE(limits_.batches.empty());
  EXPECT_TRUE(send("HELLO 3\r\n").starts_with("-NOAUTH HELLO must be called"));
  const std::string wrong = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
  EXPECT_EQ(send("AUTH secre\r\n"), wrong);
  EXPECT_EQ(send("AUTH secrets\r\n"), wrong);
  EXPECT_EQ(send("AUTH ''\r\n"), wrong);
  EXPECT_EQ(send("AUTH other secret\r\n"), wrong);
  EXPECT_EQ(send("HELLO 3 AUTH default x\r\n"), wrong);
  EXPECT_EQ(send("PING\r\n"), no);
  EXPECT_EQ(send("AUTH secret\r\nPING\r\n"), "+OK\r\n+PONG\r\n");
  EXPECT_EQ(send("RESET\r\nPING\r\n"), "+RESET\r\n" + no);
  EXPECT_TRUE(send("HELLO 3 AUTH default secret\r\n").starts_with("%7\r\n"));
  EXPECT_EQ(throttle("k 1 1 1"), "0 2 1 -1 1");
}

TEST_F(RespSessionTest, gives_strangers_less_room) {
  open("secret");
  EXPECT_EQ(send("*11\r\n"), "-ERR Protocol error: unauthenticated multibulk length\r\n");
  EXPECT_TRUE(closed_);
}

TEST_F(RespSessionTest, wonders_about_a_password_nobody_asked_for) {
  EXPECT_TRUE(send("AUTH x\r\n").starts_with("-ERR AUTH <password> called without any password"));
  EXPECT_EQ(send("AUTH default x\r\n"), "+OK\r\n");
}

}  // namespace
}  // namespace penstock::front
