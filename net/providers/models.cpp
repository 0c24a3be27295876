#include "net/providers/models.hpp"

#include "core/protocol/protocol.hpp"
#include "core/protocol/sse.hpp"
#include "net/providers/rehearsal_call.hpp"

#include <boost/asio/post.hpp>

#include <deque>
#include <unordered_map>

namespace troupe::net {

namespace {

using actors::model_body_ptr;
using actors::model_call_ptr;
using actors::model_result;
using actors::model_result_ptr;

error connection_error(const client_failure& f, std::string_view vendor) {
  std::string whom(vendor);
  if (f.what == client_failure::kind::timeout)
    return llm_failure(errc::llm_timeout, "LLMTimeoutError",
                       "TIMEOUT: Request to " + whom + " timed out: " + f.message);
  return llm_failure(errc::llm_error, "LLMConnectionError",
                     "INTERNAL_SERVER_ERROR: Failed to connect to " + whom + ": Connection error. " +
                         f.message);
}

// `broken`: what a stream said that began well.
bool worth_retrying(const boost::system::result<client_answer, client_failure>& a,
                    const std::optional<error>& broken) {
  if (broken) return broken->code == errc::llm_overloaded || broken->code == errc::llm_rate_limit;
  if (!a) return a.error().what == client_failure::kind::connection;
  if (a->should_retry) return *a->should_retry;
  return a->status == 408 || a->status == 409 || a->status == 429 || a->status >= 500;
}

// One call from its arrival to its answer.
struct call_state {
  model_call_ptr call;
  model_body_ptr body; // until an answer has begun, and nothing is tried again
  actors::reply<model_result_ptr> answer;
  std::int64_t began_ns = 0;
  int attempt = 0;
  bool visible = false;
  std::optional<http_client::handle> running;
  std::unique_ptr<asio::steady_timer> timer; // before another attempt, or of a rehearsal
  std::unique_ptr<rehearsal_call> rehearsal;
  const provider* at = nullptr;
  protocol::kind speaks = protocol::kind::chat_completions;
  // of a stream
  std::optional<sse_splitter> splitter;
  std::unique_ptr<reply_decoder> decoder;
  std::optional<project::chunk_projector> projector;
  std::optional<error> broken;
};

class models_impl final : public actors::hosted_actor {
public:
  models_impl(caf::actor_config& cfg, actors::host* h, std::shared_ptr<registry> providers,
              std::shared_ptr<http_client> client, std::shared_ptr<run_streams> streams, environment& env,
              models_options options)
      : hosted_actor(cfg, h),
        providers_(std::move(providers)),
        client_(std::move(client)),
        streams_(std::move(streams)),
        env_(env),
        options_(options) {}
  const char* name() const override { return "models"; }

  caf::behavior make_behavior() override {
    return {
        [this](const model_call_ptr& call,
               const model_body_ptr& body) -> caf::typed_response_promise<model_result_ptr> {
          auto promise = make_response_promise<model_result_ptr>();
          actors::guarded("models.call",
                          [&] { begin(call, body, actors::reply<model_result_ptr>(promise)); });
          return promise;
        },
        [this](actors::abandon_atom, const uuid& step) {
          actors::guarded("models.abandon", [&] { abandon(step); });
        },
    };
  }

  // Calls refer to this actor: they go before it does.
  void on_exit() override {
    for (auto& [step, c] : calls_)
      if (c->running) client_->abort(*c->running);
    calls_.clear();
    waiting_.clear();
  }

private:
  using calls = std::unordered_map<uuid, std::shared_ptr<call_state>>;

  void begin(const model_call_ptr& call, model_body_ptr body, actors::reply<model_result_ptr> answer) {
    auto c = std::make_shared<call_state>();
    c->call = call;
    c->body = std::move(body);
    c->answer = std::move(answer);
    c->began_ns = env_.monotonic_ns();
    c->at = providers_->provider_of(call->config);
    c->speaks = protocol::kind_of(call->config);
    calls_[call->chunks.step.value] = c;
    if (c->at && c->at->kind == provider_kind::rehearsal) return rehearse(c);
    auto limit = c->at ? c->at->max_in_flight : 64;
    auto& busy = in_flight_[c->at];
    if (busy < limit) {
      ++busy;
      return attempt(c);
    }
    if (waiting_.size() >= options_.max_waiting)
      return finish(c,
                    llm_failure(errc::llm_rate_limit, "LLMRateLimitError",
                                "RATE_LIMIT_EXCEEDED: Too many calls of models are waiting"),
                    false);
    waiting_.push_back(c);
  }

  // -- over the network ---------------------------------------------------------------------------
  client_request request_of(const call_state& c) const {
    auto& config = c.call->config;
    client_request q;
    auto base = c.at ? c.at->base_url : config.model_endpoint.value_or("");
    while (base.ends_with('/')) base.pop_back();
    q.url = base.append(protocol::path(c.speaks));
    q.headers = protocol::headers(config, c.call->stream);
    q.headers.insert(q.headers.end(), {"Content-Type: application/json", "Expect:"});
    if (c.at && !c.at->api_key.empty()) q.headers.push_back(protocol::key_header(c.speaks, c.at->api_key));
    if (c.call->stream) q.headers.emplace_back("Accept: text/event-stream");
    q.body = c.body;
    auto left = c.call->timeout_ms - (env_.monotonic_ns() - c.began_ns) / 1'000'000;
    q.timeout = std::chrono::milliseconds(std::max<std::int64_t>(1, left));
    return q;
  }

  void attempt(const std::shared_ptr<call_state>& c) {
    http_client::on_data data;
    if (c->call->stream) {
      c->splitter.emplace();
      c->decoder = protocol::make_decoder(c->call->config);
      c->projector.emplace(c->call->chunks);
      c->broken.reset();
      data = [this, c](std::string_view bytes) { on_bytes(c, bytes); };
    }
    c->running = client_->start(
        request_of(*c), std::move(data), [this, c](boost::system::result<client_answer, client_failure> a) {
          c->running.reset();
          actors::guarded(
              "models.answer", [&] { on_answer(c, std::move(a)); },
              [&](const error& e) { finish(c, llm_failure(errc::llm_error, "LLMError", e.message), true); });
        });
  }

  void on_bytes(const std::shared_ptr<call_state>& c, std::string_view bytes) {
    bool whole =
        c->splitter->feed(bytes, [&](std::string_view, std::string_view event) { on_event(*c, event); });
    if (!whole && !c->broken)
      c->broken = llm_failure(errc::llm_error, "LLMServerError",
                              "INTERNAL_SERVER_ERROR: an event of the stream is too long");
  }

  void on_event(call_state& c, std::string_view event) {
    if (c.broken) return;
    pieces_.clear();
    auto fed = c.decoder->feed(event, pieces_);
    show(c);
    if (!fed) c.broken = fed.error();
  }

  // The pieces go straight into the run's log: no worker is asked.
  void show(call_state& c) {
    for (auto& p : pieces_) publish(c, c.projector->next(p, env_.now()));
  }

  void publish(call_state& c, std::vector<std::string> chunks) {
    for (auto& text : chunks) {
      c.visible = true;
      c.body.reset();
      streams_->append(c.call->chunks.run, actors::stream_frame{std::move(text)});
    }
  }

  void on_answer(const std::shared_ptr<call_state>& c,
                 boost::system::result<client_answer, client_failure> a) {
    bool can_wait = !c->visible && c->attempt < options_.max_retries && worth_retrying(a, c->broken);
    if (can_wait && pause_fits(*c, a)) return try_again(c, a);
    if (!a)
      return finish(c, c->broken ? *c->broken : connection_error(a.error(), protocol::vendor(c->speaks)),
                    true);
    if (a->status != 200) return finish(c, protocol::error_for(c->speaks, a->status, a->body), true);
    if (!c->call->stream) return finish(c, protocol::parse_reply(c->speaks, a->body), true);
    c->splitter->finish([&](std::string_view, std::string_view event) { on_event(*c, event); });
    if (c->broken) return finish(c, *c->broken, true);
    finish(c, c->decoder->finish(), true);
  }

  std::chrono::milliseconds
  pause_before(const call_state& c, const boost::system::result<client_answer, client_failure>& a) const {
    if (a && a->retry_after) return *a->retry_after;
    auto pause = std::min(options_.first_pause * (1 << c.attempt), options_.longest_pause);
    return pause - pause * (env_.random_uuid().bytes[0] % 26) / 100;
  }

  bool pause_fits(const call_state& c, const boost::system::result<client_answer, client_failure>& a) const {
    auto pause = pause_before(c, a);
    auto used = (env_.monotonic_ns() - c.began_ns) / 1'000'000;
    return pause <= std::chrono::seconds(60) && used + pause.count() < c.call->timeout_ms;
  }

  void try_again(const std::shared_ptr<call_state>& c,
                 const boost::system::result<client_answer, client_failure>& a) {
    auto pause = pause_before(*c, a);
    ++c->attempt;
    c->timer = std::make_unique<asio::steady_timer>(streams_->io(), pause);
    c->timer->async_wait([this, c](const boost::system::error_code& ec) {
      if (!ec && calls_.contains(c->call->chunks.step.value)) attempt(c);
    });
  }

  // -- built in -----------------------------------------------------------------------------------
  void rehearse(const std::shared_ptr<call_state>& c) {
    auto request = json::try_parse(*c->body);
    auto* script = providers_->script_of(c->call->config);
    if (!request || !script)
      return finish(
          c, llm_failure(errc::llm_error, "LLMError", "INTERNAL_SERVER_ERROR: there is no rehearsal script"),
          false);
    c->projector.emplace(c->call->chunks);
    std::weak_ptr<call_state> weak = c; // which owns what calls these
    auto on_piece = [this, weak](const project::delta& d) {
      auto c = weak.lock();
      if (!c || !c->call->stream) return;
      pieces_.assign(1, d);
      show(*c);
    };
    auto on_end = [this, weak](result<model_reply> r) {
      if (auto c = weak.lock()) finish(c, std::move(r), false);
    };
    c->rehearsal = std::make_unique<rehearsal_call>(streams_->io(), script->answer(*request), c->body->size(),
                                                    on_piece, on_end);
    c->rehearsal->start(c->call->stream, std::chrono::milliseconds(c->call->timeout_ms));
  }

  // -- ends ---------------------------------------------------------------------------------------
  void finish(const std::shared_ptr<call_state>& c, result<model_reply> r, bool had_place) {
    if (r && c->call->stream && c->projector) publish(*c, c->projector->finish(env_.now()));
    auto out = std::make_shared<model_result>(
        model_result{std::move(r), env_.monotonic_ns() - c->began_ns, c->visible});
    c->answer.deliver(model_result_ptr(std::move(out)));
    forget(c, had_place);
  }

  void forget(const std::shared_ptr<call_state>& c, bool had_place) {
    calls_.erase(c->call->chunks.step.value);
    if (!had_place) return;
    auto& busy = in_flight_[c->at];
    --busy;
    // The first that waits for this provider takes the place.
    auto it = std::find_if(waiting_.begin(), waiting_.end(), [&](auto& w) { return w->at == c->at; });
    if (it == waiting_.end()) return;
    auto next = *it;
    waiting_.erase(it);
    ++busy;
    attempt(next);
  }

  void abandon(const uuid& step) {
    auto it = calls_.find(step);
    if (it == calls_.end()) return;
    auto c = it->second;
    bool waits = std::erase(waiting_, c) > 0;
    bool rehearsed = c->rehearsal != nullptr;
    if (c->running) client_->abort(*std::exchange(c->running, std::nullopt));
    c->timer.reset();
    c->rehearsal.reset();
    c->answer.deliver(fail(errc::cancelled, "The call was abandoned"));
    forget(c, !waits && !rehearsed);
  }

  std::shared_ptr<registry> providers_;
  std::shared_ptr<http_client> client_;
  std::shared_ptr<run_streams> streams_;
  environment& env_;
  models_options options_;
  calls calls_;
  std::deque<std::shared_ptr<call_state>> waiting_;
  std::unordered_map<const provider*, std::size_t> in_flight_;
  std::vector<project::delta> pieces_;
};

} // namespace

actors::models_actor spawn_models(caf::actor_system& system, actors::host* host,
                                  std::shared_ptr<registry> providers, std::shared_ptr<http_client> client,
                                  std::shared_ptr<run_streams> streams, environment& env,
                                  models_options options) {
  return caf::actor_cast<actors::models_actor>(system.spawn<models_impl>(
      host, std::move(providers), std::move(client), std::move(streams), env, options));
}

} // namespace troupe::net
