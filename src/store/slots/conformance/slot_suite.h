// The one suite that every backend of SlotStore and SlotConfigStore must pass. Include it in one
// file of the backend and instantiate its suites there; harness.h shows how.
#pragma once

#include "store/slots/conformance/assign_rules.h"
#include "store/slots/conformance/concurrency_rules.h"
#include "store/slots/conformance/config_rules.h"
#include "store/slots/conformance/differential.h"
#include "store/slots/conformance/harness.h"
#include "store/slots/conformance/life_rules.h"
#include "store/slots/conformance/read_rules.h"
#include "store/slots/conformance/retention_rules.h"
