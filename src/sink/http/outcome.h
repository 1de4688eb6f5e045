// What an HTTP answer means for the item. The one table from status codes to outcomes. Pure.
#pragma once

#include <string_view>

#include "base/time.h"
#include "sink/sink.h"

namespace penstock::sink {

// `retry_after` is the header's value, empty when absent. 2xx done; 429, and 503 that says when to
// come back, slow down; 408, 425, other 5xx, 3xx and what is no final status fail; other 4xx
// refuse.
SinkAnswer judge_answer(int status, std::string_view retry_after, Instant now);

}  // namespace penstock::sink
