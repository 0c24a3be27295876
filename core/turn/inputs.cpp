#include "core/turn/inputs.hpp"

#include <algorithm>
#include <set>

namespace troupe::turn {

agent_traits traits_of(agent a) {
  return {
      .id = a.id,
      .organization_id = a.organization_id,
      .project_id = std::move(a.project_id),
      .name = std::move(a.name),
      .type = a.type,
      .timezone = std::move(a.timezone),
      .tool_rules = std::move(a.tool_rules),
      .message_buffer_autoclear = a.message_buffer_autoclear,
      .compaction = std::move(a.compaction),
      .response_format = std::move(a.response_format),
      .tags = std::move(a.tags),
  };
}

message new_message(const input& in, message_role role, environment& env) {
  message m;
  m.created_by_id = m.last_updated_by_id = in.acting.user;
  m.created_at = m.updated_at = env.now();
  m.id = env.make_id<message_id>();
  m.agent = in.self.id;
  m.role = role;
  m.run = in.run;
  m.conversation = in.conversation;
  m.organization_id = in.self.organization_id;
  if (in.part_of && in.part_of->group) m.group = in.part_of->group->str();
  return m;
}

bool is_about(const approval_item& item, const tool_call& call, const message& request) {
  return item.tool_call_id == call.id ||
         (item.tool_call_id == request.id.str() && &call == &request.tool_calls.front());
}

namespace {

error empty_content() { return fail(errc::invalid_argument, "Message content is empty or invalid"); }

// Images that came as data become stored ones; URLs were fetched before the turn.
void store_images(std::vector<content_part>& content, environment& env) {
  for (auto& part : content)
    if (auto* image = std::get_if<image_content>(&part);
        image && image->source_type != "letta" && image->data) {
      image->source_type = "letta";
      image->url.reset();
      image->file_id_ = env.make_id<file_id>();
    }
}

result<stored_message> from_create(const input& in, const message_create& given, environment& env) {
  if (given.content.empty()) return empty_content();
  auto m = new_message(in, given.role, env);
  m.content = given.content;
  store_images(m.content, env);
  m.name = given.name;
  m.otid = given.otid ? *given.otid : env.random_uuid().str();
  m.sender_id = given.sender_id;
  if (given.group_id) m.group = given.group_id;
  if (!m.group && in.heard_by) m.group = in.heard_by->str();
  m.batch_item_id = given.batch_item_id;
  return stored_message(std::make_shared<const message>(std::move(m)));
}

// The items of an answer, whichever way it was written.
std::vector<approval_item> items_of(const input_message& given, const message* request) {
  if (auto* returns = std::get_if<tool_return_create>(&given)) {
    std::vector<approval_item> out;
    for (auto& r : returns->tool_returns)
      out.push_back({true, r.tool_call_id.value_or(""), false, std::nullopt, r});
    return out;
  }
  auto& a = std::get<approval_create>(given);
  auto out = a.approvals.value_or(std::vector<approval_item>{});
  if (out.empty() && a.approve) {
    auto id = a.approval_request_id.value_or("");
    if (id.empty() && request) id = request->id.str();
    out.push_back({false, id, *a.approve, a.reason, {}});
  }
  return out;
}

std::set<std::string> ids_of(const std::vector<approval_item>& items, const message* request) {
  std::set<std::string> out;
  for (auto& i : items)
    out.insert(request && i.tool_call_id == request->id.str() && !request->tool_calls.empty()
                   ? request->tool_calls.front().id
                   : i.tool_call_id);
  return out;
}

std::string python_list(const std::vector<std::string>& ids) {
  std::string out = "[";
  for (auto& id : ids) out.append(out.size() > 1 ? ", " : "").append(json::python_repr(std::string_view{id}));
  return out + "]";
}

error wrong_ids(const message& request, const std::vector<approval_item>& items) {
  std::vector<std::string> wanted, given;
  for (auto& c : request.tool_calls) wanted.push_back(c.id);
  for (auto& i : items) given.push_back(i.tool_call_id);
  return fail(errc::invalid_argument, "Invalid tool call IDs. Expected '" + python_list(wanted) +
                                          "', but received '" + python_list(given) + "'.");
}

constexpr std::size_t look_back = 10; // how far an answer that was processed already is searched for

// An answer that was processed before: a tool message of late that returned exactly these calls.
bool was_processed(const std::vector<stored_message>& context, const std::set<std::string>& ids) {
  auto n = context.size();
  for (std::size_t i = n; i-- > (n > look_back ? n - look_back : 0);) {
    if (context[i]->role != message_role::tool) continue;
    std::set<std::string> returned;
    for (auto& r : context[i]->tool_returns) returned.insert(r.tool_call_id.value_or(""));
    if (!ids.empty() && returned == ids) return true;
  }
  return false;
}

// The same where all that was said is a summary by now: the newest tool message of the history tells.
bool was_processed_before_summary(const input& in, const std::set<std::string>& ids) {
  return in.last_tool && was_processed({in.last_tool}, ids);
}

message keep_alive(const input& in, environment& env) {
  auto m = new_message(in, message_role::user, env);
  m.content.emplace_back(
      text_content{"<system-alert>Automated keep-alive ping. Ignore this message and continue from where you "
                   "stopped.</system-alert>",
                   std::nullopt});
  m.otid = env.random_uuid().str();
  return m;
}

error pending_error(const message& request) {
  error e{errc::pending_approval,
          "CONFLICT: Cannot send a new message: The agent is waiting for approval on a tool call. Please "
          "approve or deny the pending "
          "request before continuing.",
          {}};
  e.extra["pending_request_id"] = boost::json::string(request.id.str());
  return e;
}

message answer_message(const input& in, const message& request, std::vector<approval_item> items,
                       const input_message& given, environment& env) {
  auto m = new_message(in, message_role::approval, env);
  m.approvals = std::move(items);
  m.step = request.step;
  if (auto* a = std::get_if<approval_create>(&given)) {
    m.approve = a->approve;
    m.approval_request_id = a->approval_request_id;
    m.denial_reason = a->reason;
  }
  return m;
}

} // namespace

result<prepared_inputs> prepare(const input& in, environment& env) {
  prepared_inputs out;
  auto& given = in.request.messages;
  const message* last = in.in_context.empty() ? nullptr : in.in_context.back().get();
  bool is_open = in.part_of && last && last->role == message_role::assistant && !last->tool_calls.empty();
  const message* pending = last && (is_approval_request(*last) || is_open) ? last : nullptr;
  std::size_t first_message = 0;
  if (!given.empty() && !std::holds_alternative<message_create>(given[0])) {
    first_message = 1;
    auto items = items_of(given[0], pending);
    auto ids = ids_of(items, pending);
    if (pending) {
      if (items.empty())
        return fail(errc::invalid_argument,
                    "Invalid approval response. Approval response message does not contain any approvals.");
      std::set<std::string> wanted;
      for (auto& c : pending->tool_calls) wanted.insert(c.id);
      if (ids != wanted) return wrong_ids(*pending, items);
      out.approval = answer_message(in, *pending, std::move(items), given[0], env);
    } else if (was_processed(in.in_context, ids) || was_processed_before_summary(in, ids)) {
      bool says_more = std::any_of(given.begin(), given.end(),
                                   [](auto& g) { return std::holds_alternative<message_create>(g); });
      if (!says_more) out.messages.push_back(std::make_shared<const message>(keep_alive(in, env)));
    } else {
      return fail(errc::invalid_argument, "Cannot process approval response: No tool call is currently "
                                          "awaiting approval. Please send a regular message to interact "
                                          "with the agent.");
    }
  } else if (pending) {
    return pending_error(*pending);
  }
  for (auto i = first_message; i < given.size(); ++i) {
    auto* create = std::get_if<message_create>(&given[i]);
    if (!create && first_message) continue; // what follows an answer and is no message is passed over
    if (!create) return fail(errc::invalid_argument, "An approval must be the first message of a request");
    auto m = from_create(in, *create, env);
    if (!m) return m.error();
    out.messages.push_back(std::move(*m));
  }
  return out;
}

} // namespace troupe::turn
