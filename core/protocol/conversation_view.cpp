#include "core/protocol/conversation_view.hpp"

#include <set>

namespace troupe {

namespace {

using turn = conversation_turn;

std::vector<const content_part*> parts_of(const message& m) {
  std::vector<const content_part*> out;
  for (auto& p : m.content) out.push_back(&p);
  return out;
}

// A reply of the model: an assistant message, or a request for approval with its share of the same reply.
void add_reply(std::vector<turn>& out, const message& m, std::set<std::string>& called) {
  bool merge = m.role == message_role::approval && !out.empty() && out.back().what == turn::kind::assistant && !out.back().calls.empty() &&
               out.back().source->step == m.step;
  if (!merge) out.push_back({turn::kind::assistant, &m, parts_of(m), {}, nullptr});
  if (merge)
    for (auto& p : m.content) out.back().parts.push_back(&p);
  for (auto& call : m.tool_calls)
    if (called.insert(call.id).second) out.back().calls.push_back(&call);
}

} // namespace

std::vector<conversation_turn> conversation_turns(const std::vector<std::shared_ptr<const message>>& messages) {
  std::set<std::string> returned_somewhere, called, returned;
  for (auto& m : messages)
    for (auto& r : m->tool_returns)
      if (r.tool_call_id) returned_somewhere.insert(*r.tool_call_id);
  std::vector<turn> out;
  for (auto& m : messages) {
    switch (m->role) {
    case message_role::system: out.push_back({turn::kind::system, m.get(), parts_of(*m), {}, nullptr}); break;
    case message_role::user:
    case message_role::summary: out.push_back({turn::kind::user, m.get(), parts_of(*m), {}, nullptr}); break;
    case message_role::assistant: add_reply(out, *m, called); break;
    case message_role::approval:
      if (is_approval_request(*m)) add_reply(out, *m, called);
      break;
    case message_role::tool:
    case message_role::function:
      for (auto& r : m->tool_returns)
        if (r.tool_call_id && called.contains(*r.tool_call_id) && returned.insert(*r.tool_call_id).second)
          out.push_back({turn::kind::tool, m.get(), {}, {}, &r});
      break;
    }
  }
  // Calls that nothing ever answers would be refused by every provider.
  for (auto it = out.begin(); it != out.end();) {
    std::erase_if(it->calls, [&](auto* c) { return !returned_somewhere.contains(c->id); });
    bool empty = it->what == turn::kind::assistant && it->calls.empty() && it->parts.empty();
    it = empty ? out.erase(it) : it + 1;
  }
  return out;
}

} // namespace troupe
