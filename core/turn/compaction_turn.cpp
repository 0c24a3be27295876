#include "core/turn/compaction_turn.hpp"

#include "core/json/writer.hpp"
#include "core/turn/inputs.hpp"

namespace troupe::turn {

namespace {

constexpr const char* nothing_gained = "Summarization failed to reduce the number of messages. You may not "
                                       "have enough messages to compact or need to "
                                       "use a different CompactionSettings (e.g. using `all` mode).";
// In the words of the original, which fails to build its answer.
constexpr const char* nothing_there =
    "1 validation error for CompactionResponse\nsummary\n  Input should be a valid string [type=string_type, "
    "input_value=None, input_type=NoneType]\n    For further information visit "
    "https://errors.pydantic.dev/2.11/v/string_type";

compaction_job job_of(const input& in) {
  std::vector<offered_tool> tools;
  for (auto& t : in.tools)
    if (t->json_schema) tools.push_back(offered(t));
  return job_for(in, in.compaction->settings, in.in_context, std::move(tools));
}

std::string answer(const std::string& summary, std::size_t before, std::size_t after) {
  return json::object_text([&](json::object_writer& w) {
    w.add("summary", summary)
        .add("num_messages_before", static_cast<std::int64_t>(before))
        .add("num_messages_after", static_cast<std::int64_t>(after));
  });
}

bool holds_summary(const message& m) {
  if (m.role == message_role::summary) return true;
  auto* text = m.content.size() == 1 ? std::get_if<text_content>(m.content.data()) : nullptr;
  auto v = text && m.role == message_role::user ? json::try_parse(text->text) : std::nullopt;
  return v && json::string_or(*v, "type") == "system_alert";
}

std::string message_of(const message& m) {
  auto* text = std::get_if<text_content>(&m.content.at(0));
  auto v = text ? json::try_parse(text->text) : std::nullopt;
  return v ? std::string(json::string_or(*v, "message")) : std::string{};
}

} // namespace

compaction_turn::compaction_turn(input in, environment& env)
    : in_(std::move(in)), env_(env), compactor_(job_of(in_)) {}

effects compaction_turn::handle(event e) {
  if (finished_) return {};
  if (std::holds_alternative<started>(e)) return begin();
  if (auto* replied = std::get_if<model_replied>(&e)) {
    compactor_.take(std::move(replied->reply));
    return go_on();
  }
  if (auto* failed = std::get_if<model_failed>(&e)) {
    compactor_.take(std::move(failed->why));
    return go_on();
  }
  if (std::holds_alternative<committed>(e)) {
    auto& o = *compactor_.outcome();
    return end(std::nullopt, answer(o.summary, in_.in_context.size(), o.kept.size() + 2));
  }
  if (auto* refused = std::get_if<commit_failed>(&e)) return end(std::move(refused->why));
  if (std::holds_alternative<cancel>(e)) return end(fail(errc::cancelled, "The compaction was cancelled"));
  return {};
}

effects compaction_turn::begin() {
  auto& context = in_.in_context;
  if (context.empty()) return end(fail(errc::invalid_argument, "The context is empty"));
  if (in_.compaction->takes_what_is_there) {
    if (context.size() == 1) return end(fail(errc::invalid_argument, nothing_there));
    if (context.size() == 2 && holds_summary(*context[1]))
      return end(std::nullopt, answer(message_of(*context[1]), 2, 2));
  }
  if (context.size() == 1) return end(fail(errc::invalid_argument, nothing_gained));
  return go_on();
}

effects compaction_turn::go_on() {
  effects out;
  auto request = compactor_.next();
  if (!request) return store();
  project::chunk_target nobody;
  nobody.step = env_.make_id<step_id>();
  out.emplace_back(call_model{std::move(*request), std::move(nobody)});
  return out;
}

effects compaction_turn::store() {
  auto& o = compactor_.outcome();
  if (!o) return end(o.error());
  if (o->kept.size() + 2 >= in_.in_context.size()) return end(fail(errc::invalid_argument, nothing_gained));
  step_commit batch;
  batch.agent = in_.self.id;
  batch.conversation = in_.conversation;
  batch.rewrite.emplace();
  batch.rewrite->summary = summary_message(*o);
  batch.rewrite->dropped = o->dropped;
  effects out;
  out.emplace_back(commit{std::move(batch)});
  return out;
}

stored_message compaction_turn::summary_message(const compaction_outcome& o) const {
  auto m = new_message(in_, message_role::summary, env_);
  m.run.reset();
  m.content.emplace_back(
      text_content{packed_summary(o, std::nullopt, m.created_at, in_.self.timezone), std::nullopt});
  return std::make_shared<const message>(std::move(m));
}

effects compaction_turn::end(std::optional<error> failure, std::string body) {
  finished_ = true;
  finished f;
  f.failure = std::move(failure);
  f.body = std::move(body);
  effects out;
  out.emplace_back(std::move(f));
  return out;
}

} // namespace troupe::turn
