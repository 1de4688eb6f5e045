// Port: what providers say of messages that they took, by the provider's own references. A backend
// proves itself with store/conformance/delivery_suite.h. Implementations are blocking and safe to
// call from several threads at once; what they write is durable when the call returns. `now` is for
// tests; null = the store's own clock.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/gateway/delivery.h"

namespace penstock::store {

// In whose words a reference is, and the reference: at most kIdBytesMax * 2 bytes each, no NUL.
struct PartName {
  std::string provider;
  std::string reference;

  friend auto operator<=>(const PartName&, const PartName&) = default;
};
inline constexpr std::size_t kPartNameBytesMax = 2 * kIdBytesMax;

struct TakenPart {
  PartName name;
  ItemId message;
  int part = 1;  // from 1
  int parts = 1;
};

struct PartReport {
  PartName name;
  core::DeliveryState state = core::DeliveryState::unknown;
  std::string detail;
};

class DeliveryStore {
 public:
  DeliveryStore() = default;
  DeliveryStore(const DeliveryStore&) = delete;
  DeliveryStore& operator=(const DeliveryStore&) = delete;
  virtual ~DeliveryStore() = default;

  // A report that came before its part is kept and stands. A name that was another message's before
  // belongs to the new one, of which nothing is known yet. All of it or none.
  virtual Result<void> note_taken(std::span<const TakenPart> parts, std::optional<Instant> now) = 0;

  // In order; what is known already gives way as core::replaces() says. For each, whether its
  // message is known by now. All of it or none.
  virtual Result<std::vector<bool>> note_reports(std::span<const PartReport> reports,
                                                 std::optional<Instant> now) = 0;

  // The parts of a message by their numbers, then by their names; empty when none was taken.
  virtual Result<std::vector<core::DeliveryPart>> find_parts(const ItemId& message) = 0;

  // Forgets up to `limit` parts and reports that were first written before `before`; how many went.
  // Short: it holds nobody up.
  virtual Result<std::size_t> forget_parts(Instant before, std::size_t limit) = 0;
};

}  // namespace penstock::store
