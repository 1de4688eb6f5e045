// What the shared library shows of itself.
#pragma once

#define PENSTOCK_API __attribute__((visibility("default")))
