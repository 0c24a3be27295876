// Ids, times and texts: the small things that everything else prints and parses.
#define CAF_SUITE base
#include "core/base/text.hpp"
#include "tests/unit/support.hpp"

#include <caf/test/unit_test.hpp>

#include <set>

using namespace troupe;
using namespace troupe::test;

CAF_TEST(uuids) {
  const char* good[] = {"00000000-0000-4000-8000-000000000000", "01234567-89ab-4def-b123-456789abcdef",
                        "ffffffff-ffff-4fff-9fff-ffffffffffff", "01234567-89ab-4def-a123-456789abcdef"};
  for (auto* text : good) {
    auto u = uuid::parse(text);
    CAF_REQUIRE(u.has_value());
    CAF_CHECK_EQUAL(u->str(), text);
    CAF_CHECK(uuid::from_bytes(u->view()) == *u);
  }
  const char* bad[] = {"",
                       "00000000-0000-4000-8000-00000000000",
                       "00000000-0000-4000-8000-0000000000000",
                       "00000000-0000-1000-8000-000000000000",
                       "00000000-0000-4000-c000-000000000000",
                       "00000000-0000-4000-7000-000000000000",
                       "0123456789ab-4def-8123-456789abcdef0",
                       "01234567-89AB-4def-8123-456789abcdef",
                       "g0000000-0000-4000-8000-000000000000",
                       "00000000_0000-4000-8000-000000000000"};
  for (auto* text : bad) CAF_CHECK(!uuid::parse(text));
}

CAF_TEST(ids) {
  auto id = agent_id::parse("agent-01234567-89ab-4def-8123-456789abcdef");
  CAF_REQUIRE(id.has_value());
  CAF_CHECK_EQUAL(id->str(), "agent-01234567-89ab-4def-8123-456789abcdef");
  CAF_CHECK(agent_id::from_key(id->key()) == *id);
  for (auto* text :
       {"01234567-89ab-4def-8123-456789abcdef", "tool-01234567-89ab-4def-8123-456789abcdef",
        "agent_01234567-89ab-4def-8123-456789abcdef", "Agent-01234567-89ab-4def-8123-456789abcdef",
        "agent-01234567-89ab-4def-8123-456789abcdef ", "agent-", ""})
    CAF_CHECK(!agent_id::parse(text));
  CAF_CHECK(secret_id::parse("agent-env-01234567-89ab-4def-8123-456789abcdef"));
  CAF_CHECK(!agent_id::parse("agent-env-01234567-89ab-4def-8123-456789abcdef"));
  CAF_CHECK_EQUAL(nth<conversation_id>(1).str(), "conv-00000000-0000-4000-8000-000000000100");
}

CAF_TEST(ids by chance are version 4 and differ) {
  system_environment env;
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    auto text = env.random_uuid().str();
    CAF_CHECK(uuid::parse(text));
    seen.insert(text);
  }
  CAF_CHECK_EQUAL(seen.size(), 1000u);
  auto before = env.monotonic_ns();
  CAF_CHECK(env.monotonic_ns() >= before);
}

CAF_TEST(ids of new things are version 4 by their form and in the order of time) {
  system_environment env;
  auto ms = [](const agent_id& id) {
    std::int64_t out = 0;
    for (std::size_t i = 0; i < 6; ++i) out = out << 8 | id.value.bytes[i];
    return out;
  };
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    auto before = env.now().us / 1000;
    auto id = env.make_id<agent_id>();
    CAF_CHECK(agent_id::parse(id.str()) == id);
    CAF_CHECK(before <= ms(id) && ms(id) <= env.now().us / 1000);
    seen.insert(id.str());
  }
  CAF_CHECK_EQUAL(seen.size(), 1000u);
}

CAF_TEST(times are printed in three forms) {
  struct {
    std::int64_t us;
    const char* utc;
    const char* naive;
    const char* date;
  } rows[] = {
      {0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00", "1970-01-01T00:00:00+00:00"},
      {1735787045678901, "2025-01-02T03:04:05.678901Z", "2025-01-02T03:04:05.678901",
       "2025-01-02T03:04:05+00:00"},
      {1735787045000001, "2025-01-02T03:04:05.000001Z", "2025-01-02T03:04:05.000001",
       "2025-01-02T03:04:05+00:00"},
      {1709210096000000, "2024-02-29T12:34:56Z", "2024-02-29T12:34:56", "2024-02-29T12:34:56+00:00"},
      {-1, "1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999", "1969-12-31T23:59:59+00:00"},
  };
  for (auto& r : rows) {
    CAF_CHECK_EQUAL(format_utc({r.us}), r.utc);
    CAF_CHECK_EQUAL(format_naive({r.us}), r.naive);
    CAF_CHECK_EQUAL(format_date({r.us}), r.date);
    CAF_CHECK(parse_iso(r.utc) == timestamp{r.us});
    CAF_CHECK(parse_iso(r.naive) == timestamp{r.us});
  }
}

CAF_TEST(times are read in many forms) {
  struct {
    const char* text;
    const char* utc;
  } rows[] = {
      {"2025-01-02", "2025-01-02T00:00:00Z"},
      {"2025-01-02T03:04", "2025-01-02T03:04:00Z"},
      {"2025-01-02 03:04:05", "2025-01-02T03:04:05Z"},
      {"2025-01-02t03:04:05z", "2025-01-02T03:04:05Z"},
      {"2025-01-02T03:04:05.5", "2025-01-02T03:04:05.500000Z"},
      {"2025-01-02T03:04:05,25Z", "2025-01-02T03:04:05.250000Z"},
      {"2025-01-02T03:04:05.123456789Z", "2025-01-02T03:04:05.123456Z"},
      {"2025-01-02T03:04:05+05:30", "2025-01-01T21:34:05Z"},
      {"2025-01-02T03:04:05-0800", "2025-01-02T11:04:05Z"},
      {"2024-02-29", "2024-02-29T00:00:00Z"},
  };
  for (auto& r : rows) {
    auto t = parse_iso(r.text);
    CAF_CHECK_EQUAL(t ? format_utc(*t) : "nothing", r.utc);
  }
  for (auto* text :
       {"", "2025", "2025-1-2", "2025-02-29", "2025-13-01", "2025-00-01", "2025-01-32", "2025-01-02T",
        "2025-01-02T24:00", "2025-01-02T03:60", "2025-01-02T03:04:60", "2025-01-02T03:04:05.",
        "2025-01-02T03:04:05+5", "2025-01-02T03:04:05+25:00", "2025-01-02T03:04:05 Z", "2025-01-02x03:04",
        "-025-01-02", "2025-01-02T-1:04", "2025-01-02T03:04:05Zz"})
    CAF_CHECK(!parse_iso(text));
  CAF_CHECK(parse_iso_parts("2025-01-02")->date_only);
  CAF_CHECK(!parse_iso_parts("2025-01-02T00:00")->date_only);
  CAF_CHECK(!parse_iso_parts("2025-01-02T00:00")->offset_s);
  CAF_CHECK(parse_iso_parts("2025-01-02T00:00-01:30")->offset_s == -5400);
}

CAF_TEST(zones) {
  auto t = at("2026-11-20T12:15:13.000123Z"), summer = at("2026-07-01T00:30:00Z");
  struct {
    const char* zone;
    const char* prompt;
    const char* iso;
    const char* prompt_in_summer;
  } rows[] = {
      {"UTC", "2026-11-20 12:15:13 PM UTC+0000", "2026-11-20T12:15:13.000123+00:00",
       "2026-07-01 12:30:00 AM UTC+0000"},
      {"America/New_York", "2026-11-20 07:15:13 AM EST-0500", "2026-11-20T07:15:13.000123-05:00",
       "2026-06-30 08:30:00 PM EDT-0400"},
      {"Asia/Kolkata", "2026-11-20 05:45:13 PM IST+0530", "2026-11-20T17:45:13.000123+05:30",
       "2026-07-01 06:00:00 AM IST+0530"},
      {"No/Such", "2026-11-20 12:15:13 PM UTC+0000", "2026-11-20T12:15:13.000123+00:00",
       "2026-07-01 12:30:00 AM UTC+0000"},
  };
  for (auto& r : rows) {
    CAF_CHECK_EQUAL(format_prompt_time(t, r.zone), r.prompt);
    CAF_CHECK_EQUAL(format_iso_in(t, r.zone), r.iso);
    CAF_CHECK_EQUAL(format_prompt_time(summer, r.zone), r.prompt_in_summer);
  }
  CAF_CHECK(is_time_zone("Europe/Berlin") && is_time_zone("UTC") && !is_time_zone("No/Such") &&
            !is_time_zone(""));
  auto local = [](const char* text, const char* zone) { return format_utc(from_local(at(text), zone)); };
  CAF_CHECK_EQUAL(local("2026-11-20T07:00:00", "America/New_York"), "2026-11-20T12:00:00Z");
  CAF_CHECK_EQUAL(local("2026-11-01T01:30:00", "America/New_York"),
                  "2026-11-01T05:30:00Z"); // twice that night: the first
  CAF_CHECK_EQUAL(local("2026-03-08T02:30:00", "America/New_York"),
                  "2026-03-08T07:00:00Z"); // never: the moment of the change
  CAF_CHECK_EQUAL(local("2026-11-20T07:00:00", "UTC"), "2026-11-20T07:00:00Z");
}

CAF_TEST(texts) {
  CAF_CHECK_EQUAL(text::length("aé漢😀"), 4u);
  CAF_CHECK_EQUAL(std::string(text::prefix("aé漢😀", 2)), "aé");
  CAF_CHECK_EQUAL(std::string(text::prefix("aé", 9)), "aé");
  CAF_CHECK_EQUAL(text::without_nul(std::string_view("a\0b\0", 4)), "ab");
  CAF_CHECK(text::contains_ignoring_case("Some Text", "me tE") &&
            !text::contains_ignoring_case("Some", "Somer") && text::contains_ignoring_case("x", ""));
  CAF_CHECK((text::split("a,,b,", ',') == std::vector<std::string>{"a", "", "b", ""}));
  CAF_CHECK((text::split("", ',') == std::vector<std::string>{""}));
  CAF_CHECK((text::split_lines("a\r\nb\n\nc\rd\n") == std::vector<std::string>{"a", "b", "", "c", "d"}));
  CAF_CHECK(text::split_lines("").empty());
  CAF_CHECK_EQUAL(text::join({"a", "b", ""}, ", "), "a, b, ");
  CAF_CHECK_EQUAL(text::replace_all("aaaa", "aa", "a"), "aa");
  CAF_CHECK_EQUAL(std::string(text::trim(" \t a b\n")), "a b");
  CAF_CHECK_EQUAL(std::string(text::trim(" \n")), "");
  CAF_CHECK_EQUAL(text::expand_tabs("a\tb\n\té\tx"), "a       b\n        é       x");
  CAF_CHECK_EQUAL(text::expand_tabs("1234567\t12345678\t"), "1234567 12345678        ");
}

CAF_TEST(well formed utf8) {
  for (auto* good :
       {"", "abc", "\xc3\xa9", "\xe6\xbc\xa2", "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"})
    CAF_CHECK(text::is_utf8(good));
  for (auto* bad : {"\x80", "\xc3", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80",
                    "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "a\xffz", "\xe6\xbc"})
    CAF_CHECK(!text::is_utf8(bad));
}
