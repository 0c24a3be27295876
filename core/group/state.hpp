// A group's run as data: what was said in the group, who has heard how much of it, whose turn is out and why
// (reference: groups §7.4, §7.5). All of it is stored; nothing of a run lives in a call stack.
#pragma once

#include "core/schema/group.hpp"
#include "core/schema/message_request.hpp"
#include "core/schema/model.hpp"
#include "core/schema/tool.hpp"

namespace troupe::group_run {

// What was said in a group, once for all members. Sequences are dense from 1 in each group.
struct log_entry {
  std::uint64_t sequence = 0;
  run_id run;
  std::int64_t turn = 0;
  std::optional<agent_id> speaker; // nobody: the user, or the group itself
  std::optional<std::string> name; // the speaker's
  message_role role = message_role::user;
  std::vector<content_part> content;
  std::optional<std::string> otid;
  timestamp at;
};
BOOST_DESCRIBE_STRUCT(log_entry, (), (sequence, run, turn, speaker, name, role, content, otid, at))

// What a member is asked for.
enum class task {
  speak,  // to say something to all
  choose, // to name who speaks next: of the manager
  manage, // to do the group's work with the help of the others: of the manager
  reply   // to answer what the manager told everybody
};
BOOST_DESCRIBE_ENUM(task, speak, choose, manage, reply)

// One turn of one member within the run.
struct part {
  run_id run;
  agent_id agent;
  task what = task::speak;
  std::uint64_t heard_to = 0; // the last entry of the log that it was told
  std::int64_t attempt = 0;
  std::string call_id; // reply: the call of the manager that it answers
  std::string text;    // reply: what everybody was told; afterwards the answer
  std::string why;     // why this member
  std::optional<timestamp> deadline;
  bool ended = false;
};
BOOST_DESCRIBE_STRUCT(part, (), (run, agent, what, heard_to, attempt, call_id, text, why, deadline, ended))

struct run_state {
  run_id run;
  group_id group;
  std::uint64_t first = 0; // the entry of the log that the run began with
  std::int64_t turns = 0;
  std::int64_t step_count = 0; // as clients are told: turns, or the manager's calls of the model
  std::int64_t quiet = 0;      // turns in a row without a word
  std::int64_t asked_again = 0;
  std::optional<agent_id> speaker; // the last
  std::optional<agent_id> chosen;  // who is next, where somebody named them
  std::string why;                 // they were
  bool done = false;               // nobody has to speak any more
  std::vector<part> out;           // under way, or waiting for the others of the same call
  std::vector<part> past;
  usage_statistics usage;
};
BOOST_DESCRIBE_STRUCT(run_state, (),
                      (run, group, first, turns, step_count, quiet, asked_again, speaker, chosen, why, done,
                       out, past, usage))

// How far a member has heard.
struct cursor {
  agent_id agent;
  std::uint64_t heard_to = 0;
};
BOOST_DESCRIBE_STRUCT(cursor, (), (agent, heard_to))

// -- what a decision is made from -----------------------------------------------------------------
struct member {
  agent_id id;
  std::string name;
  std::string description;
  std::string persona;
  std::vector<tool_rule> rules;
  bool answers_by_tool = false; // its words are calls of send_message
};

struct view {
  group settings;
  std::vector<member> members; // those that are there, in order
  std::optional<member> manager;
  timestamp now;
};

// What became of a part, as it is stored.
struct said_message {
  std::vector<content_part> content;
  std::string otid;
};
struct outcome {
  run_id run;
  bool cancelled = false;
  std::optional<std::string> failure;
  bool heard = false; // what it was told is in its history
  std::vector<said_message> said;
  std::vector<tool_call> calls; // of the tools that the group gave it
  bool waits = false;           // the calls are to be answered
  std::int64_t model_calls = 0;
  usage_statistics usage;
};

// -- what a decision comes to ---------------------------------------------------------------------
// A part that begins, with everything that its turn needs beside the member's own.
struct assignment {
  part what;
  std::vector<input_message> messages;
  std::string prompt;
  std::vector<tool> tools;
  std::optional<std::string> answer; // of the tools; nothing: the turn waits for the group
  std::optional<std::vector<tool_rule>> rules;
};

struct ending {
  bool cancelled = false;
  std::optional<std::string> failure;
};

// One atomic batch of a group's run.
struct step {
  run_state state;
  std::vector<log_entry> said;
  std::vector<cursor> heard;
  std::vector<assignment> begin;
  std::vector<run_id> ended; // parts whose turns belong to the run now
  std::optional<ending> end;
};

} // namespace troupe::group_run
