#include "core/schema/group.hpp"

#include "core/base/environment.hpp"
#include "core/json/reader.hpp"
#include "core/json/writer.hpp"

#include <algorithm>

namespace troupe {

void group::write_json(std::string& out, const group& g) {
  json::object_writer w(out);
  json::for_each_member<group>([&](auto d) {
    auto name = json::json_name(d.name);
    if (name == "organization_id" || name == "created_at" || name == "block_ids" || name == "options") return;
    if (name == "manager_agent_id") w.raw("shared_block_ids", "[]");
    w.add(name, g.*d.pointer);
  });
  json::for_each_member<group_options>([&](auto d) {
    if (g.options.*d.pointer) w.add(json::json_name(d.name), *(g.options.*d.pointer));
  });
}

// -- reading --------------------------------------------------------------------------------------
namespace {

constexpr manager_type managers[] = {manager_type::round_robin, manager_type::supervisor,
                                     manager_type::dynamic, manager_type::sleeptime,
                                     manager_type::voice_sleeptime};

bool unknown_manager(json::reader& r, const json::value& v, std::string_view tag) {
  std::string expected;
  for (auto m : managers) {
    std::string word(json::enum_text(m));
    expected.append(expected.empty() ? "<ManagerType." : ", <ManagerType.").append(word);
    expected.append(": '").append(word).append("'>");
  }
  return r.fail("union_tag_invalid",
                "Input tag '" + std::string(tag) +
                    "' found using 'manager_type' does not match any of the expected tags: " + expected,
                v,
                "{'discriminator': \"'manager_type'\", 'tag': " + json::python_repr(tag) +
                    ", 'expected_tags': " + json::python_repr(std::string_view{expected}) + "}");
}

template <class T>
bool read_member(json::reader& r, const json::object& o, const char* name, json::maybe<T>& out) {
  auto* member = json::find(o, name);
  if (!member) return true;
  json::reader::scope at(r, name);
  return json::read(r, *member, out);
}

bool read_manager(json::reader& r, const json::object& o, bool is_new, manager_config& out) {
  constexpr const char* name = "manager_agent_id";
  auto* member = json::find(o, name);
  if (!member && (is_new || out.manager_type_ == manager_type::supervisor)) {
    json::reader::scope at(r, name);
    return r.fail("missing", "Field required", json::value(o));
  }
  if (!member || !is_new) return read_member(r, o, name, out.manager_agent_id);
  json::reader::scope at(r, name);
  out.manager_agent_id.present = true;
  return json::read(r, *member, out.manager_agent_id.value.emplace());
}

bool read_options(json::reader& r, const json::object& o, manager_config& out) {
  bool good = read_member(r, o, "on_member_error", out.options.on_member_error_);
  good &= read_member(r, o, "member_retries", out.options.member_retries);
  good &= read_member(r, o, "member_deadline_s", out.options.member_deadline_s);
  good &= read_member(r, o, "token_budget", out.options.token_budget);
  good &= read_member(r, o, "quiet_rounds", out.options.quiet_rounds);
  good &= read_member(r, o, "first_agent_id", out.options.first_agent_id);
  return good;
}

bool read_config(json::reader& r, const json::value& v, bool is_new, manager_config& out) {
  auto* o = json::fields_of(r, v);
  if (!o) return false;
  if (!json::find(*o, "manager_type"))
    return r.fail("union_tag_not_found", "Unable to extract tag using discriminator 'manager_type'", v,
                  "{'discriminator': \"'manager_type'\"}");
  auto tag = json::string_or(v, "manager_type");
  auto type = json::enum_from<manager_type>(tag);
  // A swarm is not known to other servers of this API; here it is made by saying who begins.
  bool is_swarm = type == manager_type::swarm && (!is_new || json::find(*o, "first_agent_id"));
  if (!type ||
      (!is_swarm && std::find(std::begin(managers), std::end(managers), *type) == std::end(managers)))
    return unknown_manager(r, v, tag);
  json::reader::scope at(r, tag);
  out.manager_type_ = *type;
  bool has_manager = *type != manager_type::round_robin && *type != manager_type::swarm;
  bool good = !has_manager || read_manager(r, *o, is_new, out);
  if (!is_sleeptime(*type)) {
    good &= read_member(r, *o, "termination_token", out.termination_token);
    good &= read_member(r, *o, "max_turns", out.max_turns);
    good &= read_options(r, *o, out);
  } else if (*type == manager_type::sleeptime) {
    good &= read_member(r, *o, "sleeptime_agent_frequency", out.sleeptime_agent_frequency);
    good &= read_member(r, *o, "idle_seconds", out.options.idle_seconds);
  } else if (*type == manager_type::voice_sleeptime) {
    good &= read_member(r, *o, "max_message_buffer_length", out.max_message_buffer_length);
    good &= read_member(r, *o, "min_message_buffer_length", out.min_message_buffer_length);
  }
  return good;
}

} // namespace

bool new_manager::read_json(json::reader& r, const json::value& v, new_manager& out) {
  return read_config(r, v, true, out);
}

bool manager_change::read_json(json::reader& r, const json::value& v, manager_change& out) {
  return read_config(r, v, false, out);
}

// -- rules ----------------------------------------------------------------------------------------
namespace {

std::string python(const std::optional<std::int64_t>& n) { return n ? std::to_string(*n) : "None"; }

result<void> check_buffers(const group& g) {
  auto& most = g.max_message_buffer_length;
  auto& least = g.min_message_buffer_length;
  auto got = [&](std::string_view between) {
    return " (got max_message_buffer_length=" + python(most) + std::string(between) +
           "min_message_buffer_length=" + python(least) + ")";
  };
  const std::string both = "Both 'max_message_buffer_length' and 'min_message_buffer_length' must be ";
  if (!most && !least) return {};
  if (!most || !least) return fail(errc::invalid_argument, both + "provided together" + got(", "));
  if (*most <= 4 || *least <= 4) return fail(errc::invalid_argument, both + "greater than 4" + got(", "));
  if (*most <= *least)
    return fail(errc::invalid_argument,
                "'max_message_buffer_length' must be greater than 'min_message_buffer_length'" + got(" <= "));
  return {};
}

// The counter begins with the first frequency, stays with another one, and goes with the last.
void count_turns(group& g) {
  if (g.sleeptime_agent_frequency.value_or(0) == 0)
    g.turns_counter.reset();
  else if (!g.turns_counter)
    g.turns_counter = -1;
}

result<void> apply(group& g, const manager_config& c) {
  auto take = [](auto& member, const auto& given) {
    if (given.present) member = given.value;
  };
  if (c.manager_agent_id.value) g.manager_agent_id = c.manager_agent_id.value;
  take(g.termination_token, c.termination_token);
  take(g.max_turns, c.max_turns);
  take(g.sleeptime_agent_frequency, c.sleeptime_agent_frequency);
  take(g.max_message_buffer_length, c.max_message_buffer_length);
  take(g.min_message_buffer_length, c.min_message_buffer_length);
  take(g.options.on_member_error_, c.options.on_member_error_);
  take(g.options.member_retries, c.options.member_retries);
  take(g.options.member_deadline_s, c.options.member_deadline_s);
  take(g.options.token_budget, c.options.token_budget);
  take(g.options.quiet_rounds, c.options.quiet_rounds);
  take(g.options.first_agent_id, c.options.first_agent_id);
  take(g.options.idle_seconds, c.options.idle_seconds);
  count_turns(g);
  return check_buffers(g);
}

} // namespace

result<group> make_group(const create_group& request, const org_id& org, environment& env) {
  group g;
  g.id = env.make_id<group_id>();
  g.manager_type_ = request.manager_config_.manager_type_;
  g.agent_ids = request.agent_ids;
  g.description = request.description;
  if (g.manager_type_ == manager_type::dynamic) g.termination_token = "DONE!";
  if (auto done = apply(g, static_cast<const manager_config&>(request.manager_config_)); !done)
    return done.error();
  g.organization_id = org;
  g.created_at = env.now();
  return g;
}

result<void> apply(group& g, const update_group& change) {
  if (change.manager_config_) {
    if (change.manager_config_->manager_type_ != g.manager_type_)
      return fail(errc::invalid_argument, "Cannot change group pattern after creation");
    if (auto done = apply(g, static_cast<const manager_config&>(*change.manager_config_)); !done) return done;
  }
  if (change.agent_ids) g.agent_ids = *change.agent_ids;
  if (change.description) g.description = *change.description;
  return {};
}

result<void> check_distinct(const group& g) {
  for (auto it = g.agent_ids.begin(); it != g.agent_ids.end(); ++it) {
    if (std::find(g.agent_ids.begin(), it, *it) == it) continue;
    if (g.manager_type_ == manager_type::dynamic)
      return fail(errc::invalid_argument, "Duplicate agent ids found in list");
    return fail(errc::unprocessable, "agent_ids names " + it->str() + " twice");
  }
  return {};
}

} // namespace troupe
