#include "daemon/commands/export_rows.h"

#include <fmt/format.h>

#include <initializer_list>
#include <iterator>
#include <utility>

#include "base/iso8601.h"
#include "wire/batch.h"
#include "wire/slots.h"

namespace penstock::daemon {
namespace {

void append_csv_row(std::string& out, std::initializer_list<std::string_view> fields) {
  std::string_view separator;
  for (const std::string_view field : fields) {
    out += separator;
    wire::append_csv_field(out, field);
    separator = ",";
  }
  out += '\n';
}

template <class Encode, class Value>
void append_json_line(std::string& out, Encode encode, const Value& value) {
  wire::JsonWriter line;
  encode(line, value);
  out += line.str();
  out += '\n';
}

}  // namespace

void append_row(std::string& out, ExportFormat format, const core::Slot& slot) {
  if (format == ExportFormat::ndjson) return append_json_line(out, wire::encode_slot, slot);
  append_csv_row(out, {core::shown_id(slot.event), slot.config_name.str(),
                       format_instant(slot.requested), format_instant(slot.scheduled),
                       fmt::format("{}", slot.delay().count()), format_instant(slot.window_start),
                       core::to_string(slot.status), format_instant(slot.created),
                       fmt::format("{}", slot.config_version), core::owner_of(slot.event)});
}

void append_row(std::string& out, ExportFormat format, const core::SlotConfig& config) {
  if (format == ExportFormat::ndjson)
    return append_json_line(out, wire::encode_slot_config, config);
  append_csv_row(
      out, {config.name.str(), fmt::format("{}", config.version), config.active ? "true" : "false",
            fmt::format("{}", config.max_per_window), format_duration(config.window_size),
            config.pool.str(), format_instant(config.effective_from)});
}

Result<void> SlotArchive::add(std::span<const core::Slot> slots) {
  std::string rows;
  if (!file_) {
    file_ = std::make_unique<cli::OutputFile>(PENSTOCK_TRY(cli::OutputFile::create(path_)));
    if (format_ == ExportFormat::csv) rows = kSlotCsvHeader;
  }
  for (const core::Slot& slot : slots) append_row(rows, format_, slot);
  PENSTOCK_TRY(file_->write(rows));
  return file_->sync();
}

}  // namespace penstock::daemon
