#include "sink/kinds.h"

#include <algorithm>

#include "base/check.h"
#include "wire/described.h"

namespace penstock::sink {

SinkKinds::SinkKinds(std::vector<SinkKind> kinds) : kinds_(std::move(kinds)) {
  for (const SinkKind& kind : kinds_) {
    PENSTOCK_CHECK(wire::find_kind(infos_, kind.name) == nullptr);  // two kinds of one name
    infos_.push_back({.name = kind.name, .members = kind.info});
  }
}

Result<SinkKinds::Asked> SinkKinds::read(const core::SinkSettings& settings) const {
  const auto kind = std::ranges::find(kinds_, std::string_view(settings.kind), &SinkKind::name);
  if (kind == kinds_.end()) return wire::no_such_kind("sink.type", settings.kind, infos_);
  Asked asked{.kind = &*kind, .settings = kind->info->make()};
  PENSTOCK_TRY(wire::read_document(*kind->info, asked.settings.get(), settings.document));
  return asked;
}

Result<core::SinkTraits> SinkKinds::traits(const core::SinkSettings& settings) const {
  const Asked asked = PENSTOCK_TRY(read(settings));
  return asked.kind->traits(asked.settings.get());
}

std::optional<Result<SinkPlace>> SinkKinds::place(const core::SinkSettings& settings) const {
  const auto kind = std::ranges::find(kinds_, std::string_view(settings.kind), &SinkKind::name);
  if (kind == kinds_.end() || kind->place == nullptr) return std::nullopt;
  const Result<Asked> asked = read(settings);
  if (!asked) return std::unexpected(asked.error());
  return kind->place(asked->settings.get());
}

Result<std::unique_ptr<Sink>> SinkKinds::open(const core::SinkSettings& settings) const {
  const Asked asked = PENSTOCK_TRY(read(settings));
  return asked.kind->open(asked.settings.get());
}

}  // namespace penstock::sink
