// Which topics are taken in, and as what. In a variable the list is one text with commas. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace penstock::daemon {

// Whether Kafka takes it for the name of a topic.
bool is_topic(std::string_view text);

// `payments=PAYMENT,orders=ORDER`: 1 to 64 topics, each once. Nothing when that is no such list.
std::optional<std::map<std::string, ItemType>> parse_intake_topics(std::string_view text);

}  // namespace penstock::daemon
