// What a status of SMPP means for the item. The one table from statuses to outcomes. Pure.
#pragma once

#include <cstdint>

#include "sink/sink.h"

namespace penstock::sink {

// Throttled, or a full queue: slow down. What is wrong with the message or its addresses refuses
// it; anything else may work another time.
SinkAnswer judge_status(std::uint32_t status);

}  // namespace penstock::sink
