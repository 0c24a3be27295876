#include "core/project/chunks.hpp"

#include "core/json/writer.hpp"

#include <algorithm>

namespace troupe::project {

message_id approval_id_for(const message_id& id) {
  message_id out = id;
  for (auto i = out.value.bytes.size(); i-- > 0;)
    if (out.value.bytes[i]-- != 0) break; // borrow where the byte was zero
  return out;
}

namespace {

message_type type_of(const delta& d, bool gated) {
  switch (d.what) {
  case delta::kind::text: return message_type::assistant_message;
  case delta::kind::thoughts:
  case delta::kind::reasoning: return message_type::reasoning_message;
  case delta::kind::hidden_reasoning: return message_type::hidden_reasoning_message;
  case delta::kind::tool_call:
    return gated ? message_type::approval_request_message : message_type::tool_call_message;
  }
  return message_type::assistant_message;
}

void head(json::object_writer& w, const message_id& id, timestamp now, message_type type,
          const std::string& otid, const chunk_target& t) {
  write_head(w, {id.str(), now, json::enum_text(type), otid, t.step, t.run, std::nullopt, t.name});
}

} // namespace

bool chunk_projector::gated(const delta& d) {
  auto it = std::find_if(names_.begin(), names_.end(), [&](auto& n) { return n.first == d.call_id; });
  if (it == names_.end() && !d.call_name.empty()) it = names_.insert(it, {d.call_id, d.call_name});
  return it != names_.end() && std::find(t_.gated.begin(), t_.gated.end(), it->second) != t_.gated.end();
}

std::string chunk_projector::call_chunk(const delta& d, timestamp now) {
  auto piece = json::object_text([&](json::object_writer& w) { // absent keys are left out
    if (!d.call_name.empty()) w.add("name", d.call_name);
    if (!d.text.empty()) w.add("arguments", d.text);
    w.add("tool_call_id", d.call_id);
  });
  return json::object_text([&](json::object_writer& w) {
    head(w, t_.id, now, message_type::tool_call_message, otid(t_.id, index_), t_);
    w.raw("tool_call", piece).raw("tool_calls", piece); // both members hold this one object
  });
}

std::string chunk_projector::approval_chunk(const delta& d, timestamp now) {
  auto piece = json::object_text([&](json::object_writer& w) { // here absent keys are null
    d.call_name.empty() ? w.null("name") : w.add("name", d.call_name);
    d.text.empty() ? w.null("arguments") : w.add("arguments", d.text);
    w.add("tool_call_id", d.call_id);
  });
  auto id = approval_id_for(t_.id);
  return json::object_text([&](json::object_writer& w) {
    head(w, id, now, message_type::approval_request_message, id.str(), t_);
    w.raw("tool_call", piece).raw("tool_calls", piece);
  });
}

std::vector<std::string> chunk_projector::next(const delta& d, timestamp now) {
  if (!inner_) return chunks_of({d}, now);
  std::vector<delta> shown;
  inner_->feed(d, shown);
  return chunks_of(shown, now);
}

std::vector<std::string> chunk_projector::finish(timestamp now) {
  std::vector<delta> shown;
  if (inner_) inner_->finish(shown);
  return chunks_of(shown, now);
}

std::vector<std::string> chunk_projector::chunks_of(const std::vector<delta>& deltas, timestamp now) {
  std::vector<std::string> out;
  for (auto& d : deltas)
    if (auto text = chunk_of(d, now)) out.push_back(std::move(*text));
  return out;
}

std::optional<std::string> chunk_projector::chunk_of(const delta& d, timestamp now) {
  auto type = type_of(d, d.what == delta::kind::tool_call && gated(d));
  if (last_ && *last_ != type) ++index_;
  last_ = type;
  if (t_.types && std::find(t_.types->begin(), t_.types->end(), type) == t_.types->end()) return std::nullopt;
  if (type == message_type::tool_call_message) return call_chunk(d, now);
  if (type == message_type::approval_request_message) return approval_chunk(d, now);
  return json::object_text([&](json::object_writer& w) {
    head(w, t_.id, now, type, otid(t_.id, index_), t_);
    if (type == message_type::assistant_message)
      w.add("content", d.text);
    else if (type == message_type::reasoning_message)
      w.add("source", d.what == delta::kind::thoughts ? "non_reasoner_model" : "reasoner_model")
          .add("reasoning", d.text)
          .add("signature", d.signature);
    else if (d.redacted.empty())
      w.add("state", "omitted").null("hidden_reasoning");
    else
      w.add("state", "redacted").add("hidden_reasoning", d.redacted);
  });
}

} // namespace troupe::project
