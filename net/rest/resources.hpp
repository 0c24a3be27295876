// Every resource adds its routes here; one file each.
#pragma once

#include "net/rest/call.hpp"

namespace troupe::net::rest {

void add_health(router& r);
void add_admin(router& r);
void add_agents(router& r);
void add_agent_generate(router& r);
void add_agent_prompts(router& r);
void add_agent_memory(router& r);
void add_agent_tools(router& r);
void add_agent_messages(router& r);
void add_async(router& r);
void add_batches(router& r);
void add_blocks(router& r);
void add_cancelling(router& r);
void add_chat_completions(router& r);
void add_compacting(router& r);
void add_conversations(router& r);
void add_conversation_messages(router& r);
void add_groups(router& r);
void add_group_messages(router& r);
void add_group_sending(router& r);
void add_group_log(router& r);
void add_metrics(router& r);
void add_identities(router& r);
void add_jobs(router& r);
void add_message_search(router& r);
void add_messages(router& r);
void add_models(router& r);
void add_runs(router& r);
void add_run_search(router& r);
void add_run_streaming(router& r);
void add_steps(router& r);
void add_tags(router& r);
void add_tools(router& r);
void add_tool_changes(router& r);
void add_tool_runs(router& r);

// The document of what is served: the API's schema without the operations that are not.
std::string openapi_document(const router& r, std::string_view version);
// Declares every operation of the API, so that what is missing answers 501.
void declare_all(router& r);

} // namespace troupe::net::rest
