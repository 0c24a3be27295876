// Memory blocks and their connections to agents.
#pragma once

#include "core/base/environment.hpp"
#include "core/schema/block.hpp"
#include "core/schema/organization.hpp"
#include "core/tools/memory.hpp"
#include "storage/listing.hpp"

namespace troupe::storage {

std::optional<block> find_block(const reader& r, const block_id& id);
std::optional<block> find_block(const reader& r, const block_id& id, const org_id& org);
std::vector<agent_id> agents_of_block(const reader& r, const block_id& id);

struct block_query {
  page pages{.limit = 50, .order = sort_order::asc, .after = {}, .before = {}};
  std::optional<std::string> label, name, project_id, label_search, description_search, value_search;
  std::optional<bool> is_template = false; // nothing: both
  std::vector<std::string> tags;
  bool match_all_tags = false;
  bool show_hidden = false;
  std::optional<std::int64_t> agents_above, agents_below;
  std::vector<std::int64_t> agents_exactly;
  std::optional<std::vector<block_id>> among; // only these
};
std::vector<block> list_blocks(const reader& r, const org_id& org, const block_query& q);
// Hidden ones are counted.
std::size_t count_blocks(const reader& r, const org_id& org, const block_query& q);

void put_block(transaction& t, const block& given);
// Changes a block and the prompts of all agents that show it. Errors: conflict, where the new label is taken
// in one of its agents; the precondition of a version, where one is given.
result<block> change_block(transaction& t, const block& before, const update_block& change, environment& env);
// Takes it away from its agents and removes it.
void erase_block(transaction& t, const block& b, environment& env);

// The edits of a step. Each was made on a version; where that is no longer the present one, nothing is
// changed and the error is a conflict. Gives the ids of the blocks that changed. A conversation may have blocks of its
// own.
result<std::vector<block_id>> apply_edits(transaction& t, const agent_id& by,
                                          const std::optional<conversation_id>& conversation,
                                          const std::vector<tools::memory_edit>& edits, environment& env);

} // namespace troupe::storage
