#include "core/protocol/conversation_view.hpp"

#include <algorithm>
#include <set>

namespace troupe {

namespace {

using turn = conversation_turn;

// Calls are told apart by where they stand, not by their id alone: there are models that number them anew in
// every reply.
class view {
public:
  std::vector<turn> build(const std::vector<std::shared_ptr<const message>>& messages) {
    for (auto& m : messages) add(*m);
    drop_unanswered();
    return std::move(out_);
  }

private:
  void add(const message& m) {
    switch (m.role) {
    case message_role::system: out_.push_back({turn::kind::system, &m, parts_of(m), {}, nullptr}); break;
    case message_role::user:
    case message_role::summary: out_.push_back({turn::kind::user, &m, parts_of(m), {}, nullptr}); break;
    case message_role::assistant: add_reply(m); break;
    case message_role::approval:
      if (is_approval_request(m)) add_reply(m);
      break;
    case message_role::tool:
    case message_role::function:
      for (auto& r : m.tool_returns) add_return(m, r);
      break;
    }
  }

  static std::vector<const content_part*> parts_of(const message& m) {
    std::vector<const content_part*> out;
    for (auto& p : m.content) out.push_back(&p);
    return out;
  }

  // A reply of the model: an assistant message, or a request for approval with its share of the same reply.
  void add_reply(const message& m) {
    bool merge = m.role == message_role::approval && !out_.empty() &&
                 out_.back().what == turn::kind::assistant && !out_.back().calls.empty() &&
                 out_.back().source->step == m.step;
    if (!merge) out_.push_back({turn::kind::assistant, &m, parts_of(m), {}, nullptr});
    if (merge)
      for (auto& p : m.content) out_.back().parts.push_back(&p);
    auto& calls = out_.back().calls;
    for (auto& call : m.tool_calls) {
      auto same = [&](auto* c) { return c->id == call.id; };
      if (std::any_of(calls.begin(), calls.end(), same)) continue;
      std::erase_if(open_, same); // an older one of that id has missed its answer
      calls.push_back(&call);
      open_.push_back(&call);
    }
  }

  void add_return(const message& m, const tool_return& r) {
    auto it = std::find_if(open_.begin(), open_.end(),
                           [&](auto* c) { return r.tool_call_id && c->id == *r.tool_call_id; });
    if (it == open_.end()) return; // nobody asked, or a second answer
    answered_.insert(*it);
    open_.erase(it);
    out_.push_back({turn::kind::tool, &m, {}, {}, &r});
  }

  // Calls that nothing ever answers would be refused by every provider.
  void drop_unanswered() {
    auto answered = [&](auto* c) { return answered_.contains(c); };
    for (auto& t : out_) std::erase_if(t.calls, [&](auto* c) { return !answered(c); });
    std::erase_if(
        out_, [](auto& t) { return t.what == turn::kind::assistant && t.calls.empty() && t.parts.empty(); });
  }

  std::vector<turn> out_;
  std::vector<const tool_call*> open_;
  std::set<const tool_call*> answered_;
};

} // namespace

std::vector<conversation_turn>
conversation_turns(const std::vector<std::shared_ptr<const message>>& messages) {
  return view().build(messages);
}

std::string text_of(const conversation_turn& t) {
  std::string out;
  for (auto* p : t.parts)
    if (auto* text = std::get_if<text_content>(p)) out += text->text;
  return out;
}

bool is_prompt(const conversation_turn& t, const model_request& r) {
  return t.what == turn::kind::system && t.source == r.messages.front().get();
}

std::string system_text(const conversation_turn& t, const model_request& r) {
  if (!is_prompt(t, r)) return text_of(t);
  return r.system_override.value_or(text_of(t)) + r.system_suffix;
}

bool hides_text(const conversation_turn& t, const llm_config& c) {
  return !t.calls.empty() && c.put_inner_thoughts_in_kwargs == false && !c.enable_reasoner &&
         c.max_reasoning_tokens == 0;
}

bool thought_by(const conversation_turn& t, const llm_config& c) { return t.source->model == c.model; }

std::string image_url(const image_content& image) {
  if (image.source_type == "url") return image.url.value_or("");
  return "data:" + image.media_type.value_or("image/png") + ";base64," + image.data.value_or("");
}

} // namespace troupe
