// A kind of sink that is compiled into the daemon from outside this tree: one file that defines a
// Sink and a described record of its settings, and says, by PENSTOCK_SINK, under which name an item
// type's settings ask for it.
//
//   cmake … -DPENSTOCK_EXTENSIONS=/path/to/file_sink.cc
//
//   // file_sink.cc; the macro takes the name of the file
//   PENSTOCK_SINK(file_sink) { return penstock::sink::extension<FileSettings>("file", open); }
//
//   {"sink": {"type": "file", "settings": {…}, "secrets": […], "timeoutMs": …, "concurrency": …}}
//
// Nothing registers itself before main: the build writes the list of these functions.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/describe.h"
#include "base/log.h"
#include "base/result.h"
#include "sink/kinds.h"

namespace penstock::sink {

// What item types say of a sink from outside: its own settings, and what all such sinks have.
template <Described Settings>
struct Extended {
  Settings settings;
  std::vector<std::string> secrets;
  Millis timeout = Seconds{10};
  std::int64_t concurrency = 32;

  core::SinkTraits traits() const { return {.concurrency = static_cast<std::size_t>(concurrency)}; }
};

// `open(const Extended<Settings>&)` gives a Result<std::unique_ptr<Sink>>; the settings keep to
// their description and its rule.
template <Described Settings, class Open>
SinkKind extension(std::string_view name, Open open) {
  return kind_of<Extended<Settings>>(name, std::move(open));
}

// `log` outlives the sinks.
using MakeExtension = SinkKind (*)(Log& log);

}  // namespace penstock::sink

namespace penstock {

template <Described Settings>
struct Description<sink::Extended<Settings>> {
  using Extended = sink::Extended<Settings>;
  static constexpr std::string_view name = "Extension";
  static constexpr std::array fields = {
      // Any of them may say where it goes: a change of one drops the secrets.
      place(field<&Extended::settings>("settings", "Of a kind that was compiled in: its own.")),
      secret(each(field<&Extended::secrets>("secrets", "At most five. Write-only."), 5, 1, 512)),
      range(field<&Extended::timeout>("timeoutMs", "From the hand-over to the answer."), 1,
            600'000),
      range(field<&Extended::concurrency>("concurrency", "Hand-overs under way at once."), 1,
            1'024)};
};

}  // namespace penstock

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): it spells the one name that the build looks for.
#define PENSTOCK_SINK(file)                      \
  namespace penstock::extensions {               \
  penstock::sink::SinkKind file(penstock::Log&); \
  }                                              \
  penstock::sink::SinkKind penstock::extensions::file([[maybe_unused]] penstock::Log& log)
