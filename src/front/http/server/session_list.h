// A list of sessions whose links are in the sessions: adding and removing costs no memory. One
// thread.
#pragma once

namespace penstock::front {

class Session;

struct SessionLink {
  Session* previous = nullptr;
  Session* next = nullptr;
};

class SessionList {
 public:
  void add(Session& session) noexcept;
  void remove(Session& session) noexcept;
  Session* first() const noexcept { return first_; }
  bool empty() const noexcept { return first_ == nullptr; }

 private:
  Session* first_ = nullptr;
};

}  // namespace penstock::front
