// The kinds of sinks of a process. A kind is one folder, or one file from outside this tree
// (sink/extension.h): a described record of settings, and how to open a sink of them. Only
// daemon/compose/dispatch.cc names the kinds; to everybody else a kind is a name in this list.
//
//   struct PigeonSettings {
//     std::string loft;
//     core::SinkTraits traits() const { return {.concurrency = 2}; }
//     Result<SinkPlace> place() const;  // optional: of one that is reached over the network
//   };
//   template <> struct Description<sink::PigeonSettings> { … };
//
//   SinkKind pigeon_kind(Aviary* aviary) {
//     return kind_of<PigeonSettings>("pigeon", [aviary](const PigeonSettings& settings) {
//       return aviary->open(settings); });
//   }
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/describe.h"
#include "base/result.h"
#include "core/dispatch/item_type.h"
#include "sink/sink.h"

namespace penstock::sink {

// What a sink connects to.
struct SinkPlace {
  std::string host;
  std::uint16_t port = 0;
  bool tls = false;
};

// `settings` is a record of `info`, and valid.
struct SinkKind {
  std::string_view name;  // as in {"type": "http"}: small letters, digits, '-' and '_'
  const RecordInfo* info = nullptr;
  core::SinkTraits (*traits)(const void* settings) = nullptr;
  Result<SinkPlace> (*place)(const void* settings) = nullptr;  // null = its settings name none
  // `invalid` when the settings cannot be followed, or the daemon was not told what it needs.
  std::function<Result<std::unique_ptr<Sink>>(const void* settings)> open;
  // Of what all sinks of the kind share: why nothing can be sent now. Does not block; null = they
  // share nothing that could be away.
  std::function<Result<void>()> health = {};
};

template <Described Settings, class Open>
SinkKind kind_of(std::string_view name, Open open, std::function<Result<void>()> health = {}) {
  const auto of = [](const void* settings) -> const Settings& {
    return *static_cast<const Settings*>(settings);
  };
  SinkKind kind{
      .name = name,
      .info = &describe<Settings>(),
      .traits =
          [](const void* settings) { return static_cast<const Settings*>(settings)->traits(); },
      .open = [open = std::move(open), of](const void* settings) -> Result<std::unique_ptr<Sink>> {
        return open(of(settings));
      },
      .health = std::move(health)};
  if constexpr (requires(const Settings& settings) { settings.place(); }) {
    kind.place = [](const void* settings) {
      return static_cast<const Settings*>(settings)->place();
    };
  }
  return kind;
}

// Thread-safe. The settings are those of an item type, as the store has them.
class SinkKinds {
 public:
  explicit SinkKinds(std::vector<SinkKind> kinds);

  // How their settings are read and shown.
  Kinds infos() const noexcept { return infos_; }
  const std::vector<SinkKind>& all() const noexcept { return kinds_; }
  // `invalid` when there is no such kind in this build.
  Result<core::SinkTraits> traits(const core::SinkSettings& settings) const;
  // Empty when it connects to nothing by its own settings, or is of no kind that is here.
  std::optional<Result<SinkPlace>> place(const core::SinkSettings& settings) const;
  Result<std::unique_ptr<Sink>> open(const core::SinkSettings& settings) const;

 private:
  struct Asked {
    const SinkKind* kind;
    std::shared_ptr<void> settings;
  };
  Result<Asked> read(const core::SinkSettings& settings) const;

  std::vector<SinkKind> kinds_;
  std::vector<KindInfo> infos_;
};

}  // namespace penstock::sink
