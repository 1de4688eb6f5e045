// Port: which nodes share this engine right now. Blocking; safe on any thread.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace penstock::store {

class NodeRegistry {
 public:
  NodeRegistry() = default;
  NodeRegistry(const NodeRegistry&) = delete;
  NodeRegistry& operator=(const NodeRegistry&) = delete;
  virtual ~NodeRegistry() = default;

  // Says that `node` is alive, and counts the nodes that said so within the last `within` of the
  // engine's time, this one included. Older ones are forgotten.
  virtual Result<std::size_t> beat(std::string_view node, Millis within) = 0;

  // The node goes in good order: the others need not wait until it is forgotten.
  virtual Result<void> leave(std::string_view node) = 0;
};

}  // namespace penstock::store
