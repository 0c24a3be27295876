// Points in time as the API prints them. Microseconds since the epoch, UTC.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

struct timestamp {
  std::int64_t us = 0;
  auto operator<=>(const timestamp&) const = default;
};

// A time that the API prints without a zone (Run.completed_at, callback_sent_at; reference: agent-loop §0).
struct naive_timestamp {
  std::int64_t us = 0;
  auto operator<=>(const naive_timestamp&) const = default;
};

// 2025-01-02T03:04:05.678901Z; without the fraction where it is zero.
std::string format_utc(timestamp t);
// The same without the Z.
std::string format_naive(naive_timestamp t);
// Whole seconds and an offset: 2025-01-02T03:04:05+00:00 (LettaMessage.date).
std::string format_date(timestamp t);

// ISO 8601 date or date-time; `T` or a space, seconds and fraction optional, offset `Z`, `±hh:mm` or none (taken as
// UTC). A date alone is midnight. Nothing where the text is not of that form.
std::optional<timestamp> parse_iso(std::string_view text);

struct iso_time {
  timestamp local;                      // read as if it were UTC
  std::optional<std::int32_t> offset_s; // seconds east of Greenwich, where the text has an offset
  bool date_only = false;
};
// The parts of parse_iso, for callers that give naive times a zone of their own.
std::optional<iso_time> parse_iso_parts(std::string_view text);

// True for a name of the IANA time zone database.
bool is_time_zone(const std::string& name);
// `%Y-%m-%d %I:%M:%S %p %Z%z`: 2026-11-20 07:15:13 AM EST-0500. An unknown zone falls back to UTC.
std::string format_prompt_time(timestamp t, const std::string& zone);
// ISO with the zone's offset and, unless zero, microseconds: 2026-11-20T07:15:13.000123-05:00.
std::string format_iso_in(timestamp t, const std::string& zone);
// A local time of that zone as UTC (the earlier one where it is ambiguous).
timestamp from_local(timestamp local, const std::string& zone);

} // namespace troupe
