// All suites of quota stores: include this once in `<backend>_quota_conformance.cc`.
#pragma once

#include "store/conformance/quota_differential.h"
#include "store/conformance/quota_gate_rules.h"
#include "store/conformance/quota_properties.h"
#include "store/conformance/quota_rules.h"
#include "store/conformance/send_key_rules.h"
