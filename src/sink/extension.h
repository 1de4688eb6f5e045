// A kind of sink that is compiled into the daemon from outside this tree: one file that defines a
// Sink and says, by PENSTOCK_SINK, under which name an item type's settings ask for it.
//
//   cmake … -DPENSTOCK_EXTENSIONS=/path/to/file_sink.cc
//
//   // file_sink.cc; the macro takes the name of the file
//   PENSTOCK_SINK(file_sink) { return {.name = "file", .check = check, .open = open}; }
//
//   {"sink": {"type": "file", "settings": {…}, "secrets": […], "timeoutMs": …, "concurrency": …}}
//
// Nothing registers itself before main: the build writes the list of these functions.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "base/log.h"
#include "base/result.h"
#include "core/dispatch/item_type.h"
#include "sink/sink.h"

namespace penstock::sink {

struct SinkExtension {
  std::string_view name;  // core::is_extension_name, and none of our own
  // Refuses settings that cannot be followed, naming the field ("sink.settings.path"). Asked when
  // an item type is changed, and now and then for /health/ready: must not block. Null = any will
  // do.
  Result<void> (*check)(const core::SinkSettings& settings) = nullptr;
  // `settings.options` is a JSON object or empty. `log` outlives the sink.
  Result<std::unique_ptr<Sink>> (*open)(const core::SinkSettings& settings, Log& log) = nullptr;
};

// Null when there is none of that name.
const SinkExtension* find_extension(std::span<const SinkExtension> extensions,
                                    std::string_view name) noexcept;

// Whether these settings ask for a sink that there is, in a way that it can follow.
Result<void> check_sink(const core::SinkSettings& settings,
                        std::span<const SinkExtension> extensions);

}  // namespace penstock::sink

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): it spells the one name that the build looks for.
#define PENSTOCK_SINK(file)             \
  namespace penstock::extensions {      \
  penstock::sink::SinkExtension file(); \
  }                                     \
  penstock::sink::SinkExtension penstock::extensions::file()
