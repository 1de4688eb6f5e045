// Temporal: whether its frontend serves the namespace.
#pragma once

#include <span>

#include "app/config/config.h"
#include "app/doctor/finding.h"
#include "runtime/deadline.h"
#include "store/item_type_store.h"

namespace penstock::app::doctor {

Findings check_temporal(const Config& config, std::span<const store::ItemTypeRecord> types,
                        const runtime::Deadline& deadline);

}  // namespace penstock::app::doctor
