// `troupe groups`, and what `troupe chat --group` needs to know of groups.
#pragma once

#include "runtime/terminal/connection.hpp"
#include "runtime/terminal/printer.hpp"

#include <iosfwd>
#include <optional>
#include <vector>

namespace troupe::runtime {

struct group_card {
  std::string id;
  std::string title; // its description, or whose memory it keeps
  std::string kind;  // manager_type
  std::string manager;
  std::vector<std::string> members;      // names
  std::optional<std::int64_t> frequency; // of a group with sleeptime

  bool keeps_memory() const { return kind.ends_with("sleeptime"); }
};

result<agent_names> names_of_agents(connection& server);
result<std::vector<group_card>> groups_of(connection& server, const agent_names& names);
// By id, by title, by the beginning of one or the words in it. Errors: not_found, invalid_argument for more than one.
result<group_card> find_group(const std::vector<group_card>& groups, const std::string& wanted);
// "The travel desk: Nora leads Finn, Lena"
std::string line_of(const group_card& g);

// The command: all groups, or who was asked what in one run.
result<void> show_groups(const server_address& at, const std::string& traced_run, std::ostream& out);
// Why each spoke, on one line, in brackets. Nothing where the server knows no trace of the run.
void show_reasons(connection& server, const group_card& g, const std::string& run, std::ostream& out);

} // namespace troupe::runtime
