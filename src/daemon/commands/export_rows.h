// Slots and configs as rows of a file: the names of the API, NDJSON or CSV. Pure.
#pragma once

#include <string>
#include <string_view>

#include "core/slots/slot.h"
#include "core/slots/slot_config.h"

namespace penstock::daemon {

enum class ExportFormat { ndjson, csv };

inline constexpr std::string_view kSlotCsvHeader =
    "eventId,configName,requestedTime,scheduledTime,delayMs,windowStart,status,createdAt,"
    "configVersion,owner\n";
inline constexpr std::string_view kConfigCsvHeader =
    "configName,version,active,maxPerWindow,windowSize,pool,effectiveFrom\n";

// Appends one line.
void append_row(std::string& out, ExportFormat format, const core::Slot& slot);
void append_row(std::string& out, ExportFormat format, const core::SlotConfig& config);

}  // namespace penstock::daemon
