// The one suite that every backend of SlotStore and SlotConfigStore must pass. Include it in one
// file of the backend and instantiate its suites there; harness.h shows how.
#pragma once

#include "store/conformance/assign_rules.h"
#include "store/conformance/concurrency_rules.h"
#include "store/conformance/config_rules.h"
#include "store/conformance/differential.h"
#include "store/conformance/harness.h"
#include "store/conformance/life_rules.h"
#include "store/conformance/read_rules.h"
#include "store/conformance/retention_rules.h"
