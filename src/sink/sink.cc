#include "sink/sink.h"

#include <fmt/format.h>

#include <iterator>

#include "base/iso8601.h"
#include "wire/json.h"

namespace penstock::sink {

void append_envelope_start(std::string& out, const Handover& item) {
  out += R"({"itemType":)";
  wire::append_json_string(out, item.type.str());
  out += R"(,"itemId":)";
  wire::append_json_string(out, item.id.str());
  out += R"(,"scheduledTime":")";
  append_instant(out, item.scheduled);
  fmt::format_to(std::back_inserter(out), R"(","attempt":{},"context":)", item.attempt);
}

}  // namespace penstock::sink
