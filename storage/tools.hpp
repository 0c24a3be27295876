// Tools of an organisation.
#pragma once

#include "core/base/environment.hpp"
#include "core/schema/agent.hpp"
#include "core/schema/organization.hpp"
#include "storage/listing.hpp"

namespace troupe::storage {

std::optional<tool> find_tool(const reader& r, const tool_id& id);
// Of that organisation only.
std::optional<tool> find_tool(const reader& r, const tool_id& id, const org_id& org);
std::optional<tool> find_tool_by_name(const reader& r, const org_id& org, std::string_view name);

struct tool_query {
  page pages;
  std::vector<std::string> names;
  std::vector<tool_id> ids;
  std::optional<std::string> search; // case-insensitive part of the name, with the wildcards % and _
  std::vector<tool_type> types;
  std::vector<tool_type> excluded_types;
  bool only_letta = false; // the built-in ones
  bool exclude_letta = false;
  std::optional<std::string> project; // rows of it or of none
};
std::vector<tool> list_tools(const reader& r, const org_id& org, const tool_query& q);
std::size_t count_tools(const reader& r, const org_id& org, const tool_query& q);

void put_tool(transaction& t, const tool& row);
bool lacks_base_tools(const reader& r, const org_id& org);
// Agents that had it have it no more.
void delete_tool(transaction& t, const tool& row);
// Adds what is missing of the base tools and refreshes the rest; gives all of them.
std::vector<tool> upsert_base_tools(transaction& t, const organization& org, const user_id& by,
                                    environment& env);

} // namespace troupe::storage
