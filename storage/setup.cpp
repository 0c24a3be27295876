#include "storage/setup.hpp"

#include "storage/agents.hpp"
#include "storage/blocks.hpp"
#include "storage/conversations.hpp"
#include "storage/groups.hpp"
#include "storage/organizations.hpp"
#include "storage/runs.hpp"
#include "storage/sleeptime.hpp"
#include "storage/tools.hpp"
#include "storage/turns.hpp"

#include <charconv>

namespace troupe::storage {

namespace {

key meta(std::string_view name) { return key(table::meta).text(name); }

result<void> one_batch(database& db, std::string_view name, std::function<result<void>(transaction&)> apply) {
  return db.commit({batch{name, std::move(apply)}}).front();
}

} // namespace

result<bool> has_format(const reader& r) {
  auto record = r.get(meta("format"));
  if (!record) return false;
  std::string stored(*record);
  int found = 0; // also of what is no number
  std::from_chars(stored.data(), stored.data() + stored.size(), found);
  if (found == format_version) return true;
  if (found > format_version)
    return fail(errc::unavailable, "the data folder has format " + stored + ", this troupe knows up to " +
                                       std::to_string(format_version) +
                                       ": use the newer troupe that wrote it");
  return fail(errc::unavailable,
              "the data folder has format " + stored + ", which this troupe cannot migrate");
}

result<void> prepare_format(database& db, environment& env) {
  auto there = has_format(*db.snapshot());
  if (!there) return there.error();
  if (*there) return {};
  return one_batch(db, "setup.format", [&env](transaction& t) -> result<void> {
    t.put(meta("format"), std::to_string(format_version));
    t.put(meta("created"), format_utc(env.now()));
    return {};
  });
}

result<void> prepare_defaults(database& db, environment& env) {
  return one_batch(db, "setup.defaults", [&env](transaction& t) -> result<void> {
    organization org{default_org_id(), "default_org", env.now(), false};
    if (auto there = find_organization(t, org.id))
      org = *there;
    else
      put_organization(t, org);
    if (!find_user(t, default_user_id()))
      put_user(t, user{default_user_id(), org.id, "default_user", env.now(), env.now(), false});
    upsert_base_tools(t, org, default_user_id(), env);
    return {};
  });
}

result<std::size_t> recover(database& db, environment& env) {
  std::size_t n = 0;
  auto done = one_batch(db, "setup.recover", [&](transaction& t) -> result<void> {
    n = recover_runs(t, env);
    return {};
  });
  if (!done) return done.error();
  return n;
}

namespace {

class checker {
public:
  explicit checker(const reader& r) : r_(r) {}

  check_report look() {
    each<agent>(table::agents, report_.agents, [&](const agent& a) {
      context_key context{a.id, std::nullopt};
      auto entries = context_entries(r_, context);
      if (entries.empty()) problem("agent " + a.id.str() + " has an empty context");
      for (auto& e : entries) {
        auto m = load_message(r_, {a.id, e.sequence});
        if (!m || m->id != e.id)
          problem("agent " + a.id.str() + ": message " + e.id.str() + " of its context is not there");
      }
    });
    each<block>(table::blocks, report_.blocks, [](auto&) {});
    each<tool>(table::tools, report_.tools, [](auto&) {});
    each<conversation>(table::conversations, report_.conversations, [&](const conversation& c) {
      if (!find_agent(r_, c.agent)) problem("conversation " + c.id.str() + " has no agent");
    });
    each<run>(table::runs, report_.runs, [&](const run& row) {
      if (!find_agent(r_, row.agent)) problem("run " + row.id.str() + " has no agent");
      for (auto& s : row.steps)
        if (!find_step(r_, s)) problem("run " + row.id.str() + ": step " + s.str() + " is not there");
    });
    each<step>(table::steps, report_.steps, [](auto&) {});
    jobs_of_companions();
    messages();
    return std::move(report_);
  }

private:
  template <class T, class F> void each(table t, std::size_t& count, F look) {
    r_.scan_prefix(key(t), reader::direction::forward, [&](std::string_view k, std::string_view v) {
      ++count;
      auto record = codec::decode<T>(v);
      if (record)
        look(*record);
      else
        problem("damaged record " + last_uuid(k).str() + " in table " + std::string(1, static_cast<char>(t)));
      return true;
    });
  }

  void jobs_of_companions() {
    std::size_t count = 0;
    each<sleeptime_job>(table::sleeptime_jobs, count, [&](const sleeptime_job& j) {
      auto name = "the job of companion " + j.companion.str();
      if (!find_group(r_, j.group)) problem(name + " has no group");
      auto runs = j.waiting;
      if (j.working) runs.push_back(j.working->run);
      for (auto& id : runs)
        if (!find_run(r_, id)) problem(name + ": run " + id.str() + " is not there");
    });
  }

  void messages() {
    r_.scan_prefix(key(table::messages), reader::direction::forward,
                   [&](std::string_view k, std::string_view v) {
                     ++report_.messages;
                     auto m = codec::decode<message>(v);
                     if (!m) return problem("damaged message " + std::to_string(number_at(k, 17))), true;
                     auto at = find_message_place(r_, m->id);
                     if (!at || at->agent != m->agent || at->sequence != number_at(k, 17))
                       problem("message " + m->id.str() + " is not found by its id");
                     return true;
                   });
  }

  void problem(std::string what) {
    if (report_.problems.size() < 100) report_.problems.push_back(std::move(what));
  }

  const reader& r_;
  check_report report_;
};

} // namespace

check_report check(const reader& r) { return checker(r).look(); }

} // namespace troupe::storage
