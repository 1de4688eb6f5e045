// All suites of quota stores: include this once in `<backend>_quota_conformance.cc`.
#pragma once

#include "store/quota/conformance/quota_differential.h"
#include "store/quota/conformance/quota_gate_rules.h"
#include "store/quota/conformance/quota_properties.h"
#include "store/quota/conformance/quota_rules.h"
#include "store/quota/conformance/send_key_rules.h"
