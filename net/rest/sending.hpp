// A request for a turn -> the mailbox of its context -> the answer (reference: agent-loop §4, §5).
#pragma once

#include "core/schema/message_request.hpp"
#include "net/rest/call.hpp"

namespace troupe::net::rest {

struct destination {
  agent_id agent;
  std::optional<conversation_id> conversation;
  std::string run_type;                            // metadata of the run
  std::optional<std::string> model;                // handle that the conversation has of its own
  std::optional<model_settings> model_settings_{}; // and its settings
  std::optional<group_id> group{};                 // its run, which the agent leads
  bool replays = false; // in the background: the same otids give the same run again, also after its end
};

// The body of a request that says something. Errors: invalid_body; unprocessable, without messages.
template <send_model M> result<send_request> request_of(call& c) {
  auto body = body_of<send_body<M>>(c);
  if (!body) return body.error();
  if (body->value.messages.empty()) return fail(errc::unprocessable, "Messages must not be empty");
  return std::move(body->value);
}
// How the turn runs that it asks for.
inline turn::mode mode_of(const send_request& q, bool streaming) {
  if (!streaming) return turn::mode::blocking;
  return q.background ? turn::mode::background : turn::mode::stream;
}

// The request as it goes to the context's mailbox, but for its images. Errors: not_found, for the agent or the model.
awaitable<result<std::shared_ptr<storage::turn_order>>> prepare_order(call& c, destination to,
                                                                      send_request request, turn::mode how);
// With its images. Errors: also invalid_argument, for those.
awaitable<result<std::shared_ptr<storage::turn_order>>> make_order(call& c, destination to,
                                                                   send_request request, turn::mode how);

// The model that summarises where these settings name one that is known; otherwise the agent's own does.
// No provider is asked: a message does not wait for a model that it will hardly need.
std::optional<llm_config> summarizer_of(const call& c, const compaction_settings& settings);

// A request that turns out to be impossible when it has its run: the run has failed. The answer of its mode: the error,
// a stream that says so, or the run as it was accepted.
awaitable<outcome> refuse(call& c, const storage::turn_order& order, const error& why);

// Runs the turn; the answer is its response, or the stream of its events.
awaitable<outcome> send(call& c, destination to, send_request request, turn::mode how);

// Runs the turn behind the client: the answer is its run.
awaitable<outcome> accept(call& c, destination to, send_request request);

// The body of the provider's request that the turn would begin with. Nothing is kept.
awaitable<outcome> preview(call& c, destination to, send_request request);

} // namespace troupe::net::rest
