// What every port is: an interface that is owned elsewhere and never copied.
#pragma once

namespace penstock::store {

class Port {
 public:
  Port() = default;
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;
  virtual ~Port() = default;
};

}  // namespace penstock::store
