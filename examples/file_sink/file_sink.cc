// A sink of one's own: each item is a line of JSON at the end of a file, on the disk before the
// item counts as handed over. Everything that waits goes with one write and one sync.
//
//   {"sink": {"type": "file", "settings": {"path": "/var/lib/invoices/out.ndjson"}}}
//
// A crash between sync and settlement brings an item again: its line is there twice, with the same
// itemType and itemId. A crash within a write may leave a line without an end: it is ended first.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/threads.h"
#include "sink/extension.h"

// What an item type says of it, under `settings`.
struct FileSettings {
  std::string path;
};
std::string path_problem(const penstock::FieldValue& value) {
  return std::get<std::string>(value).starts_with('/') ? "" : "must begin with /";
}
template <>
struct penstock::Description<FileSettings> {
  static constexpr std::string_view name = "FileSettings";
  static constexpr std::array fields = {required(
      checked(range(field<&FileSettings::path>("path", "The file."), 1, 4'096), path_problem))};
};

namespace {

using namespace penstock;
using sink::Handover;
using sink::SinkAnswer;
using sink::SinkOutcome;

class FileSink final : public sink::Sink {
 public:
  explicit FileSink(std::string path) : path_(std::move(path)), thread_([this] { run(); }) {}
  ~FileSink() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();  // writes what it has been given
    if (fd_ >= 0) ::close(fd_);
  }

  void send(Handover&& item, Done done) override {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back({std::move(item), std::move(done)});
    }
    wake_.notify_one();
  }

 private:
  struct Call {
    Handover item;
    Done done;
  };

  void run() {
    runtime::set_thread_name("sink-file");
    for (;;) {
      std::vector<Call> calls;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
        if (waiting_.empty()) return;
        calls.swap(waiting_);
      }
      const std::string trouble = write(calls);
      for (Call& call : calls) {
        call.done({.outcome = trouble.empty() ? SinkOutcome::done : SinkOutcome::failed,
                   .detail = trouble.empty() ? "written" : trouble});
      }
    }
  }

  // Empty when all of them are on the disk.
  std::string write(const std::vector<Call>& calls) {
    if (fd_ < 0) fd_ = ::open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd_ < 0) return problem("open");
    std::string lines = ends_within_a_line() ? "\n" : "";
    for (const Call& call : calls) {
      sink::append_envelope_start(lines, call.item);
      lines += call.item.context.empty() ? "null" : call.item.context;
      lines.append(sink::kEnvelopeEnd).append("\n");
    }
    for (std::size_t at = 0; at < lines.size();) {
      const ssize_t put = ::write(fd_, lines.data() + at, lines.size() - at);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return problem("write to");
      at += static_cast<std::size_t>(put);
    }
    if (::fsync(fd_) == 0) return {};
    // What became of the pages is unknown from now on: the next attempt begins anew.
    std::string trouble = problem("sync");
    ::close(std::exchange(fd_, -1));
    return trouble;
  }

  bool ends_within_a_line() const {
    const off_t size = ::lseek(fd_, 0, SEEK_END);
    char last = '\n';
    return size > 0 && ::pread(fd_, &last, 1, size - 1) == 1 && last != '\n';
  }

  std::string problem(const char* what) const {
    return std::string("cannot ") + what + " " + path_ + ": " + std::strerror(errno);
  }

  const std::string path_;
  int fd_ = -1;  // the thread's
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Call> waiting_;  // guarded by mutex_
  bool stopping_ = false;      // guarded by mutex_
  std::thread thread_;         // last: it uses all of the above
};

}  // namespace

PENSTOCK_SINK(file_sink) {
  return sink::extension<FileSettings>("file", [](const sink::Extended<FileSettings>& settings) {
    return std::make_unique<FileSink>(settings.settings.path);
  });
}
