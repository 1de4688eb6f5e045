// Real Redis servers for the tests of this room, started through tools/testserver and ended with
// their object; the working directory must be the root of the repository. For tests and benchmarks.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/redis/store.h"

extern char** environ;

namespace penstock::store::redis {

class TestServer {
 public:
  struct Node {
    int port = 0;
    pid_t pid = 0;
  };

  // The words after `tools/testserver/run redis`.
  explicit TestServer(const std::vector<std::string>& words = {}) {
    int to_child[2];
    int from_child[2];
    if (::pipe2(to_child, O_CLOEXEC) != 0 || ::pipe2(from_child, O_CLOEXEC) != 0) {
      problem_ = "no pipe";
      return;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to_child[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from_child[1], 1);
    std::vector<const char*> arguments = {"tools/testserver/run", "redis"};
    for (const std::string& word : words) arguments.push_back(word.c_str());
    arguments.push_back(nullptr);
    const int failed = ::posix_spawn(&pid_, arguments[0], &actions, nullptr,
                                     const_cast<char**>(arguments.data()), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(to_child[0]);
    ::close(from_child[1]);
    input_ = to_child[1];
    output_ = from_child[0];
    const std::string line = failed == 0 ? read_line() : std::string();
    read_nodes(line);
    if (nodes_.empty()) problem_ = line.empty() ? "tools/testserver/run started no redis" : line;
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;
  ~TestServer() {
    if (output_ >= 0) ::close(output_);
    if (input_ >= 0) ::close(input_);  // tells the fixture to end the server
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }

  // The program's one server, and its one cluster of three masters.
  static TestServer& single() {
    static TestServer server({"--set", "appendonly=no"});
    return server;
  }
  static TestServer& cluster() {
    static TestServer server({"--cluster", "--set", "appendonly=no"});
    return server;
  }

  // kill -9; what it had on disk stays.
  void kill() { command("kill\n"); }
  // Returns when it answers again, on the same port.
  void start() {
    nodes_.clear();
    read_nodes(command("start\n"));
  }

  const std::string& problem() const { return problem_; }  // empty = it runs
  const std::vector<Node>& nodes() const { return nodes_; }
  int port() const { return nodes_.front().port; }
  std::string url() const {
    std::string url = "redis://";
    for (const Node& node : nodes_) {
      url += (url.ends_with('/') ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(node.port);
    }
    return url;
  }

  // What redis-cli answers, without the last line end.
  static std::string cli(int port, const std::string& words) {
    const std::string command = "redis-cli -p " + std::to_string(port) + " " + words + " 2>&1";
    std::string out;
    FILE* const pipe = ::popen(command.c_str(), "r");
    char buffer[4096];
    while (pipe != nullptr) {
      const std::size_t count = ::fread(buffer, 1, sizeof buffer, pipe);
      if (count == 0) break;
      out.append(buffer, count);
    }
    if (pipe != nullptr) ::pclose(pipe);
    while (out.ends_with('\n')) out.pop_back();
    return out;
  }
  std::string cli(const std::string& words) const { return cli(port(), words); }

 private:
  std::string read_line() {
    std::string line;
    char byte = 0;
    while (::read(output_, &byte, 1) == 1 && byte != '\n') line += byte;
    return line;
  }
  std::string command(std::string_view text) {
    if (::write(input_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) return {};
    return read_line();
  }

  // A cluster's line names its first node once more before the list of nodes.
  void read_nodes(std::string_view line) {
    if (const std::size_t list = line.find("\"nodes\": "); list != line.npos) {
      line.remove_prefix(list);
    }
    for (;;) {
      const std::size_t port = line.find("\"port\": ");
      const std::size_t pid = line.find("\"pid\": ");
      if (port == line.npos || pid == line.npos) return;
      nodes_.push_back(
          {.port = std::atoi(line.data() + port + 8), .pid = std::atoi(line.data() + pid + 7)});
      line.remove_prefix(std::max(port, pid) + 8);
    }
  }

  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  std::vector<Node> nodes_;
  std::string problem_;
};

// Keys of one case do not meet those of another.
inline std::string fresh_prefix() {
  static std::atomic<int> number{0};
  return "test" + std::to_string(++number) + ":";
}

// A store; a failure to open it is the test's.
inline std::unique_ptr<RedisStore> open_store(const RedisOptions& options, Log* log = nullptr) {
  auto store = RedisStore::open(options, log);
  EXPECT_TRUE(store) << store.error().what;
  return store ? std::move(*store) : nullptr;
}

}  // namespace penstock::store::redis
