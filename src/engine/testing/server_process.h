// Starts a real server through tools/testserver and ends it with this object. For tests and
// benchmarks; the working directory must be the root of the repository.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

extern char** environ;

namespace penstock::store {

class ServerProcess {
 public:
  // `kind`: "postgres", "mariadb", … `fsync`: false is faster and loses data only with the machine,
  // not with a process.
  ServerProcess(const char* kind, bool fsync) {
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
    const char* arguments[] = {"tools/testserver/run", kind, "--fsync", fsync ? "on" : "off",
                               nullptr};
    const int failed = ::posix_spawn(&pid_, arguments[0], &actions, nullptr,
                                     const_cast<char**>(arguments), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(to_child[0]);
    ::close(from_child[1]);
    input_ = to_child[1];
    output_ = from_child[0];
    const std::string line = failed == 0 ? read_line() : std::string();
    constexpr char kPort[] = "\"port\": ";
    const std::size_t at = line.find(kPort);
    if (at == std::string::npos) {
      problem_ = line.empty() ? "tools/testserver/run did not start a server" : line;
      return;
    }
    port_ = std::atoi(line.c_str() + at + sizeof(kPort) - 1);
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess() {
    if (output_ >= 0) ::close(output_);
    if (input_ >= 0) ::close(input_);  // tells the fixture to end the server
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }

  const std::string& problem() const { return problem_; }  // empty = it runs
  int port() const { return port_; }

  // kill -9; what it had on disk stays.
  void kill_server() { command("kill\n"); }
  // Returns when it answers again, on the same port.
  void start_server() { command("start\n"); }

 private:
  std::string read_line() {
    std::string line;
    char byte = 0;
    while (::read(output_, &byte, 1) == 1 && byte != '\n') line += byte;
    return line;
  }
  void command(std::string_view text) {
    if (::write(input_, text.data(), text.size()) == static_cast<ssize_t>(text.size())) {
      read_line();
    }
  }

  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  int port_ = 0;
  std::string problem_;
};

}  // namespace penstock::store
