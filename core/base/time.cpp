#include "core/base/time.hpp"

#include <date/tz.h>

#include <charconv>
#include <chrono>
#include <cstdio>

namespace troupe {

namespace {
using std::chrono::microseconds;
using sys_us = date::sys_time<microseconds>;

sys_us sys(std::int64_t us) { return sys_us{microseconds{us}}; }

struct parts {
  int year, month, day, hour, minute, second;
  std::int64_t micros;
};

parts split(std::int64_t us) {
  auto t = sys(us);
  auto day = date::floor<date::days>(t);
  date::year_month_day ymd{day};
  date::hh_mm_ss<microseconds> hms{t - day};
  return {int{ymd.year()},
          static_cast<int>(unsigned{ymd.month()}),
          static_cast<int>(unsigned{ymd.day()}),
          static_cast<int>(hms.hours().count()),
          static_cast<int>(hms.minutes().count()),
          static_cast<int>(hms.seconds().count()),
          hms.subseconds().count()};
}

std::string print(std::int64_t us, bool fraction, const char* suffix) {
  auto p = split(us);
  char buf[64];
  int n = std::snprintf(buf, sizeof buf, "%04d-%02d-%02dT%02d:%02d:%02d", p.year, p.month, p.day, p.hour,
                        p.minute, p.second);
  if (fraction && p.micros != 0)
    n +=
        std::snprintf(buf + n, sizeof buf - static_cast<std::size_t>(n), ".%06d", static_cast<int>(p.micros));
  return std::string(buf, static_cast<std::size_t>(n)) + suffix;
}

// Exactly `digits` decimal digits at `at`; moves past them.
std::optional<int> number(std::string_view text, std::size_t& at, std::size_t digits) {
  if (at + digits > text.size()) return std::nullopt;
  int value = 0;
  auto first = text.data() + at;
  auto [end, ec] = std::from_chars(first, first + digits, value);
  if (ec != std::errc{} || end != first + digits || *first == '-') return std::nullopt;
  at += digits;
  return value;
}

bool take(std::string_view text, std::size_t& at, char c) {
  if (at >= text.size() || text[at] != c) return false;
  ++at;
  return true;
}

std::optional<std::int64_t> fraction(std::string_view text, std::size_t& at) {
  std::int64_t value = 0;
  std::size_t digits = 0;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
    if (digits < 6) value = value * 10 + (text[at] - '0');
    ++digits, ++at;
  }
  if (digits == 0) return std::nullopt;
  for (; digits < 6; ++digits) value *= 10;
  return value;
}

std::optional<std::int32_t> offset(std::string_view text, std::size_t& at) {
  int sign = text[at] == '-' ? -1 : 1;
  ++at;
  auto hours = number(text, at, 2);
  take(text, at, ':');
  auto minutes = number(text, at, 2);
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  return sign * (*hours * 3600 + *minutes * 60);
}

const date::time_zone* zone_of(const std::string& name) {
  try {
    return date::locate_zone(name);
  } catch (const std::exception&) { return nullptr; }
}
} // namespace

std::string format_utc(timestamp t) { return print(t.us, true, "Z"); }
std::string format_naive(naive_timestamp t) { return print(t.us, true, ""); }
std::string format_date(timestamp t) { return print(t.us, false, "+00:00"); }

std::optional<iso_time> parse_iso_parts(std::string_view text) {
  std::size_t at = 0;
  auto year = number(text, at, 4);
  if (!year || !take(text, at, '-')) return std::nullopt;
  auto month = number(text, at, 2);
  if (!month || !take(text, at, '-')) return std::nullopt;
  auto day = number(text, at, 2);
  if (!day) return std::nullopt;
  date::year_month_day ymd{date::year{*year}, date::month{static_cast<unsigned>(*month)},
                           date::day{static_cast<unsigned>(*day)}};
  if (!ymd.ok()) return std::nullopt;
  iso_time out;
  out.local.us = std::chrono::duration_cast<microseconds>(date::sys_days{ymd}.time_since_epoch()).count();
  if (at == text.size()) {
    out.date_only = true;
    return out;
  }
  if (!take(text, at, 'T') && !take(text, at, 't') && !take(text, at, ' ')) return std::nullopt;
  auto hour = number(text, at, 2);
  if (!hour || *hour > 23 || !take(text, at, ':')) return std::nullopt;
  auto minute = number(text, at, 2);
  if (!minute || *minute > 59) return std::nullopt;
  std::int64_t seconds = *hour * 3600 + *minute * 60, micros = 0;
  if (take(text, at, ':')) {
    auto second = number(text, at, 2);
    if (!second || *second > 59) return std::nullopt;
    seconds += *second;
    if (take(text, at, '.') || take(text, at, ',')) {
      auto f = fraction(text, at);
      if (!f) return std::nullopt;
      micros = *f;
    }
  }
  out.local.us += seconds * 1'000'000 + micros;
  if (at == text.size()) return out;
  if (take(text, at, 'Z') || take(text, at, 'z'))
    out.offset_s = 0;
  else if (text[at] == '+' || text[at] == '-') {
    out.offset_s = offset(text, at);
    if (!out.offset_s) return std::nullopt;
  }
  if (at != text.size()) return std::nullopt;
  return out;
}

std::optional<timestamp> parse_iso(std::string_view text) {
  auto p = parse_iso_parts(text);
  if (!p) return std::nullopt;
  return timestamp{p->local.us - std::int64_t{p->offset_s.value_or(0)} * 1'000'000};
}

bool is_time_zone(const std::string& name) { return name == "UTC" || zone_of(name) != nullptr; }

std::string format_prompt_time(timestamp t, const std::string& zone) {
  auto seconds = date::floor<std::chrono::seconds>(sys(t.us));
  if (zone != "UTC")
    if (auto* z = zone_of(zone))
      return date::format("%Y-%m-%d %I:%M:%S %p %Z%z", date::make_zoned(z, seconds));
  return date::format("%Y-%m-%d %I:%M:%S %p UTC+0000", seconds);
}

std::string format_iso_in(timestamp t, const std::string& zone) {
  const auto* z = zone == "UTC" ? nullptr : zone_of(zone);
  std::int64_t shift = z ? z->get_info(sys(t.us)).offset.count() : 0;
  char suffix[16];
  auto minutes = (shift < 0 ? -shift : shift) / 60;
  std::snprintf(suffix, sizeof suffix, "%c%02d:%02d", shift < 0 ? '-' : '+',
                static_cast<int>(minutes / 60 % 100), static_cast<int>(minutes % 60));
  return print(t.us + shift * 1'000'000, true, suffix);
}

timestamp from_local(timestamp local, const std::string& zone) {
  const auto* z = zone == "UTC" ? nullptr : zone_of(zone);
  if (!z) return local;
  auto at = date::local_time<microseconds>{microseconds{local.us}};
  return timestamp{z->to_sys(at, date::choose::earliest).time_since_epoch().count()};
}

} // namespace troupe
