// How a group's manager leads it: who is next, what that member is asked, what its answer means (reference: groups
// §2.1–2.3, §7.5). One class a manager type, without state of its own.
#pragma once

#include "core/base/environment.hpp"
#include "core/group/state.hpp"

#include <memory>

namespace troupe::group_run {

// Words for the log.
struct said_by {
  const member* speaker = nullptr; // nobody: the group itself
  std::vector<said_message> words;
};

// What a pattern works with.
struct scene {
  run_state& state;
  const view& now;
  environment& env;
};

class pattern {
public:
  virtual ~pattern() = default;
  // The parts that begin now; none: the run ends.
  virtual std::vector<part> next(scene s) const = 0;
  // A part that ended well. Gives the words for the log.
  virtual std::vector<said_by> take(scene s, part& p, const outcome& o) const = 0;
  // What the member is asked. `unheard`: of the log, without its own words.
  virtual assignment assign(scene s, const part& p, const std::vector<log_entry>& unheard) const = 0;
  virtual std::int64_t default_turns(const view& v) const {
    return static_cast<std::int64_t>(v.members.size());
  }
  // Everybody hears everything in the end.
  virtual bool shares_log() const { return true; }
};

std::unique_ptr<pattern> make_pattern(manager_type type);
std::unique_ptr<pattern> make_round_robin();
std::unique_ptr<pattern> make_supervisor();
std::unique_ptr<pattern> make_dynamic();
std::unique_ptr<pattern> make_swarm();

// -- pieces that patterns share -------------------------------------------------------------------
const member* find(const view& v, const agent_id& id);
// A turn in which somebody spoke, or had nothing to say.
void count_turn(scene s, const part& p);
part new_part(scene s, const agent_id& agent, task what, std::string why);
// Entries of the log as a member is told them: others as system messages under their names.
std::vector<input_message> as_messages(const group_id& group, const std::vector<log_entry>& entries);
input_message note(const group_id& group, std::string text);
// A member's turn to say something to all.
assignment speak(scene s, const part& p, const std::vector<log_entry>& unheard);
std::string group_section(std::string_view prompt, const view& v, const member& who);
// The member that a text names: by id, by name, by its name as the only one among the words. Nothing: none, or several.
const member* named_in(const std::vector<const member*>& candidates, const std::string& given);
// A tool whose first argument is one of these agents.
tool choice_tool(std::string name, const std::string& description,
                 const std::vector<const member*>& candidates);
// The member that a call of such a tool names.
const member* chosen_by(const tool_call& call, const std::vector<const member*>& candidates);
std::string text_of(const outcome& o);
// The tools that patterns give to members.
inline constexpr std::string_view choose_tool = "choose_next_participant";
inline constexpr std::string_view hand_off_tool = "hand_off";
inline constexpr std::string_view broadcast_tool = "send_message_to_all_agents_in_group";
bool is_group_tool(std::string_view name);
// An argument that is a text; empty where there is none.
std::string argument_of(const tool_call& call, std::string_view name);

} // namespace troupe::group_run
