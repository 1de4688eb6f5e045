// All suites of dispatch stores: include this once in `<backend>_queue_conformance.cc`.
#pragma once

#include "store/queue/conformance/queue_differential.h"
#include "store/queue/conformance/queue_rules.h"
#include "store/queue/conformance/queue_slots.h"
