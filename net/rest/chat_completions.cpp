// POST /chat/completions: an agent behind the API that OpenAI's clients speak (recording chat-completions-basic).
#include "core/protocol/chat_completions.hpp"

#include "net/rest/resources.hpp"
#include "net/rest/sending.hpp"
#include "storage/agents.hpp"

namespace troupe::net::rest {

namespace {

// A turn's events on their way to a client of OpenAI's API.
class completion_events final : public http::event_source {
public:
  completion_events(std::shared_ptr<http::event_source> turn, chat_completions::chunk_writer writer)
      : turn_(std::move(turn)), writer_(std::move(writer)) {}

  awaitable<std::optional<pieces>> next(std::chrono::milliseconds patience) override {
    while (!ended_) {
      auto events = co_await turn_->next(patience);
      if (events && events->empty()) co_return pieces{};
      std::vector<std::string> chunks;
      if (events)
        for (auto& e : *events) writer_.next(data_of(e), chunks);
      else
        end(chunks);
      if (!chunks.empty()) co_return framed(chunks);
    }
    co_return std::nullopt;
  }

  std::string keep_alive() override { return ": still working\n\n"; }
  void leave() override { turn_->leave(); }

private:
  void end(std::vector<std::string>& chunks) {
    ended_ = true;
    writer_.finish(chunks);
  }

  static std::string_view data_of(std::string_view event) {
    constexpr std::string_view mark = "data: ";
    auto at = event.find(mark);
    return at == std::string_view::npos ? std::string_view{} : event.substr(at + mark.size());
  }

  static pieces framed(const std::vector<std::string>& chunks) {
    pieces out;
    for (auto& c : chunks) out.push_back("data: " + c + "\n\n");
    return out;
  }

  std::shared_ptr<http::event_source> turn_;
  chat_completions::chunk_writer writer_;
  bool ended_ = false;
};

// The agent that `model` names.
result<agent> agent_of(const call& c, const std::string& model) {
  if (!model.starts_with("agent-"))
    return invalid_argument("For this endpoint, the 'model' field should contain an agent ID (format: "
                            "'agent-...'). Received: '" +
                            model + "'");
  auto id = id_named<agent_id>(model);
  if (!id) return id.error();
  auto a = storage::find_agent(*c.s.db->snapshot(), *id, c.by.org);
  if (!a) return fail(errc::not_found, "Agent not found");
  return std::move(*a);
}

awaitable<outcome> create(call& c) {
  auto body = body_of<chat_completions::request>(c);
  if (!body) co_return body.error();
  auto a = agent_of(c, body->model);
  if (!a) co_return a.error();
  auto said = chat_completions::last_user_message(*body);
  if (!said) co_return said.error();
  auto now = c.s.env->now();
  send_request request;
  request.messages.emplace_back(std::move(*said));
  request.has_messages = true;
  request.stream_tokens = body->stream;
  destination to{a->id, std::nullopt, "openai_chat_completions", std::nullopt};
  auto how = body->stream ? turn::mode::stream : turn::mode::blocking;
  auto out = co_await send(c, std::move(to), std::move(request), how);
  if (!out) co_return out;
  if (body->stream) {
    chat_completions::chunk_writer writer(a->llm.model, now, body->include_usage);
    out->events = std::make_shared<completion_events>(std::move(out->events), std::move(writer));
  } else {
    auto answer = json::try_parse(out->body).value_or(json::value{});
    chat_completions::heading head{"chatcmpl-" + c.s.env->random_uuid().str(), a->llm.model, now};
    out->body = chat_completions::completion(answer, std::move(head));
  }
  co_return out;
}

// Voice agents are talked to as all others are.
awaitable<outcome> refuse_voice(call&) {
  co_return fail(errc::gone, "The /voice-beta endpoint has been deprecated and is no longer available.");
}

} // namespace

void add_chat_completions(router& r) {
  r.add("POST", "/chat/completions", create);
  r.add("POST", "/voice-beta/{agent_id}/chat/completions", refuse_voice);
}

} // namespace troupe::net::rest
