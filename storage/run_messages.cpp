#include "storage/run_messages.hpp"

#include "storage/agents.hpp"
#include "storage/messages.hpp"

namespace troupe::storage {

namespace {

bool was_made(const message& m) {
  return m.role == message_role::assistant || m.role == message_role::tool || is_approval_request(m);
}

// How the loop of an agent shows its messages (reference: agent-loop §3.3).
project::options view_of(const reader& r, const run& row) {
  project::options o;
  auto a = find_agent(r, row.agent);
  o.text_is_assistant_message = a && is_native_loop(a->type);
  o.use_assistant_message =
      !o.text_is_assistant_message && (!row.request_config || row.request_config->use_assistant_message);
  return o;
}

void add_messages(const reader& r, const run& part, const run& whole,
                  std::vector<project::api_message>& out) {
  for (auto& id : part.parts)
    if (auto inner = find_run(r, id)) add_messages(r, *inner, whole, out);
  auto messages = messages_of_run(r, part.agent, part.id, part.first_sequence, part.last_sequence);
  std::erase_if(messages, [](auto& m) { return !was_made(*m); });
  auto view = view_of(r, part);
  view.run = whole.id;
  auto shown = project::project_list(messages, view);
  out.insert(out.end(), std::make_move_iterator(shown.begin()), std::make_move_iterator(shown.end()));
}

} // namespace

std::vector<project::api_message> shown_messages(const reader& r, const run& row) {
  std::vector<project::api_message> out;
  add_messages(r, row, row, out);
  return out;
}

} // namespace troupe::storage
