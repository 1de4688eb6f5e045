// All suites of quota gates: include this once in `<backend>_gate_conformance.cc`.
#pragma once

#include "store/quota/conformance/cached_gate_differential.h"
#include "store/quota/conformance/cached_gate_rules.h"
