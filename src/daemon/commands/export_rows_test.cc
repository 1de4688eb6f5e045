#include "daemon/commands/export_rows.h"

#include <gtest/gtest.h>

#include "base/iso8601.h"
#include "wire/batch.h"

namespace penstock::daemon {
namespace {

core::Slot slot() {
  const Instant at = *parse_instant("2025-06-01T12:00:00Z");
  return {.event = EventId::trusted("a,\"b\""),
          .config_name = ConfigName::trusted("default"),
          .config_version = 3,
          .requested = at,
          .window_start = at,
          .scheduled = at + Millis{371},
          .created = at - Millis{1}};
}

TEST(ExportRows, have_a_csv_field_for_every_name_of_the_header) {
  std::string rows(kSlotCsvHeader);
  append_row(rows, ExportFormat::csv, slot());
  const std::size_t end = rows.find('\n');
  const auto header = *wire::parse_csv_row(std::string_view(rows).substr(0, end));
  const auto fields =
      *wire::parse_csv_row(std::string_view(rows).substr(end + 1, rows.size() - end - 2));
  ASSERT_EQ(header.size(), fields.size());
  EXPECT_EQ(fields[0], "a,\"b\"");
  EXPECT_EQ(header[4], "delayMs");
  EXPECT_EQ(fields[4], "371");
  EXPECT_EQ(fields[6], "ASSIGNED");

  std::string config_rows;
  append_row(config_rows, ExportFormat::csv,
             core::SlotConfig{.name = ConfigName::trusted("c"),
                              .pool = PoolName::trusted("p"),
                              .max_per_window = 5,
                              .window_size = Seconds{4},
                              .version = 2,
                              .active = true});
  EXPECT_EQ(config_rows, "c,2,true,5,PT4S,p,1970-01-01T00:00:00.000Z\n");
}

TEST(ExportRows, are_one_json_object_a_line) {
  std::string rows;
  append_row(rows, ExportFormat::ndjson, slot());
  EXPECT_TRUE(
      rows.starts_with(R"({"eventId":"a,\"b\"","scheduledTime":"2025-06-01T12:00:00.371Z")"));
  EXPECT_TRUE(rows.ends_with("}\n"));
}

}  // namespace
}  // namespace penstock::daemon
