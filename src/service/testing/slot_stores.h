// For tests: stores of slots and of their configs that answer as they are told.
#pragma once

#include <gmock/gmock.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "store/slots/ports.h"

namespace penstock::service {

class MockSlots : public store::SlotStore {
 public:
  MOCK_METHOD(std::vector<Result<store::Assignment>>, assign,
              (std::span<const store::SlotRequest>, std::optional<Instant>), (override));
  MOCK_METHOD(Result<std::vector<std::optional<store::Slot>>>, find, (std::span<const EventId>),
              (override));
  MOCK_METHOD(Result<std::vector<store::WindowUse>>, windows, (const store::WindowRange&),
              (override));
  MOCK_METHOD(Result<std::vector<store::Slot>>, scan, (const EventId&, std::size_t), (override));
};

class MockConfigs : public store::SlotConfigStore {
 public:
  MOCK_METHOD(Result<std::optional<core::SlotConfig>>, find, (const ConfigName&), (override));
  MOCK_METHOD(Result<store::SlotConfigChange>, put,
              (const core::SlotConfigDraft&, std::optional<Instant>), (override));
  MOCK_METHOD(Result<std::vector<core::SlotConfig>>, history, (const ConfigName&, std::size_t),
              (override));
  MOCK_METHOD(Result<std::vector<core::SlotConfig>>, list, (const ConfigName&, std::size_t),
              (override));
};

}  // namespace penstock::service
