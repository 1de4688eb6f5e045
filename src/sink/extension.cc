#include "sink/extension.h"

#include <algorithm>
#include <string>

namespace penstock::sink {

const SinkExtension* find_extension(std::span<const SinkExtension> extensions,
                                    std::string_view name) noexcept {
  const auto found = std::ranges::find(extensions, name, &SinkExtension::name);
  return found == extensions.end() ? nullptr : &*found;
}

Result<void> check_sink(const core::SinkSettings& settings,
                        std::span<const SinkExtension> extensions) {
  if (settings.type != core::SinkType::extension) return {};
  const SinkExtension* const extension = find_extension(extensions, settings.extension);
  if (extension != nullptr) return extension->check ? extension->check(settings) : Result<void>{};
  std::string known = "log, http, kafka, temporal";
  for (const SinkExtension& each : extensions) known.append(", ").append(each.name);
  return invalid_field("sink.type", "is " + settings.extension + ", and this build has " + known);
}

}  // namespace penstock::sink
