#include "net/rest/api.hpp"

#include "core/base/text.hpp"
#include "net/rest/errors.hpp"
#include "net/rest/resources.hpp"
#include "storage/organizations.hpp"

#include <spdlog/spdlog.h>

namespace troupe::net::rest {

bool is_new_sdk(const http::request& r) {
  if (!r.header("x-stainless-package-version").empty()) return true;
  auto agent = r.header("user-agent");
  if (agent.empty()) return true;
  auto slash = agent.find('/');
  auto name = agent.substr(0, slash);
  if (slash == std::string_view::npos) return true; // says no version
  auto version = agent.substr(slash + 1);
  return (name == "letta-client" || name == "@letta-ai/letta-client") && version.starts_with("1.");
}

namespace {

void add_everything(router& r) {
  add_health(r);
  add_admin(r);
  add_agents(r);
  add_agent_generate(r);
  add_agent_prompts(r);
  add_agent_memory(r);
  add_agent_tools(r);
  add_agent_messages(r);
  add_async(r);
  add_batches(r);
  add_blocks(r);
  add_cancelling(r);
  add_chat_completions(r);
  add_compacting(r);
  add_conversations(r);
  add_groups(r);
  add_group_messages(r);
  add_group_sending(r);
  add_group_log(r);
  add_metrics(r);
  add_identities(r);
  add_jobs(r);
  add_message_search(r);
  add_messages(r);
  add_models(r);
  add_runs(r);
  add_run_search(r);
  add_run_streaming(r);
  add_steps(r);
  add_tags(r);
  add_tools(r);
  add_tool_changes(r);
  add_tool_runs(r);
  declare_all(r);
}

// -- who acts -------------------------------------------------------------------------------------
// A user that nobody knows acts as the default one.
result<actor> actor_of(services& s, const http::request& r) {
  actor by{default_user_id(), default_org_id()};
  auto text = r.header("user_id");
  if (text.empty()) return by;
  auto id = id_named<user_id>(text);
  if (!id) return id.error();
  if (*id == by.user) return by;
  auto found = storage::find_user(*s.db->snapshot(), *id);
  return found ? actor{found->id, found->organization_id} : by;
}

// Compares in a time that does not tell where the difference is.
bool same_secret(std::string_view a, std::string_view b) {
  unsigned char difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i] ^ b[b.empty() ? 0 : i % b.size()]);
  return difference == 0 && !b.empty();
}

bool may_enter(const services& s, const http::request& r) {
  if (s.options.password.empty()) return true;
  auto bare = r.path.ends_with('/') ? std::string_view(r.path).substr(0, r.path.size() - 1)
                                    : std::string_view(r.path);
  for (std::string_view open : {"/v1/health", "/v1/ready", "/latest/health", "/latest/ready"})
    if (bare == open) return true;
  auto after = [](std::string_view text, std::string_view word) {
    return text.starts_with(word) ? text.substr(word.size()) : std::string_view{};
  };
  return same_secret(after(r.header("authorization"), "Bearer "), s.options.password) ||
         same_secret(after(r.header("x-bare-password"), "password "), s.options.password);
}

// -- web pages of other origins -------------------------------------------------------------------
bool allowed_origin(const settings& o, std::string_view origin) {
  if (origin.empty()) return false;
  for (std::string_view local :
       {"http://localhost", "http://127.0.0.1", "https://localhost", "https://127.0.0.1"})
    if (origin == local || (origin.starts_with(local) && origin[local.size()] == ':')) return true;
  return std::find(o.origins.begin(), o.origins.end(), origin) != o.origins.end();
}

void allow_origin(http::response& out, std::string_view origin) {
  out.headers.emplace_back("access-control-allow-origin", std::string(origin));
  out.headers.emplace_back("access-control-allow-credentials", "true");
  out.headers.emplace_back("vary", "Origin");
}

http::response preflight(const http::request& r) {
  http::response out;
  out.content_type = "text/plain; charset=utf-8";
  out.body = "OK";
  out.headers.emplace_back("access-control-allow-methods", "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT");
  out.headers.emplace_back("access-control-max-age", "600");
  if (auto wanted = r.header("access-control-request-headers"); !wanted.empty())
    out.headers.emplace_back("access-control-allow-headers", std::string(wanted));
  return out;
}

// -- routes ---------------------------------------------------------------------------------------
// To the other form of a path: the target as it came, because a decoded one could hold whole headers.
http::response redirect(const http::request& r) {
  http::response out;
  out.status = 307;
  out.content_type.clear();
  auto mark = std::min(r.target.find('?'), r.target.size());
  auto path = r.target.substr(0, mark);
  if (path.ends_with('/'))
    path.pop_back();
  else if (r.path.ends_with('/')) // written as an escape
    path.resize(path.size() - 3);
  else
    path.push_back('/');
  out.headers.emplace_back("location", path + r.target.substr(mark));
  return out;
}

awaitable<outcome> run_endpoint(services& s, http::request r, const router::match& m) {
  auto by = actor_of(s, r);
  if (!by) co_return by.error();
  bool sdk = is_new_sdk(r);
  call c{std::move(r), s, *by, sdk, m.values};
  if (auto parsed = co_await parse_long_body(c); !parsed) co_return parsed.error();
  co_return co_await (*m.target)(c);
}

awaitable<http::response> route(services& s, http::request r) {
  if (!may_enter(s, r)) co_return detail(401, "Unauthorized");
  if (r.path == "/openapi.json") {
    if (r.method != "GET") co_return detail(405, "Method Not Allowed");
    co_return http::response::json(openapi_document(s.routes, s.options.troupe_version));
  }
  auto m = s.routes.find(r.method, r.path);
  switch (m.what) {
  case router::match::kind::nothing: co_return detail(404, "Not Found");
  case router::match::kind::wrong_method: co_return detail(405, "Method Not Allowed");
  case router::match::kind::redirect: co_return redirect(r);
  case router::match::kind::unserved:
    co_return detail(501, "Not implemented: this version of Troupe does not serve " + r.method + " " +
                              r.path + " yet");
  case router::match::kind::found: break;
  }
  auto method = r.method, path = r.path;
  try {
    auto out = co_await run_endpoint(s, std::move(r), m);
    if (out) co_return std::move(*out);
    co_return error_response(out.error());
  } catch (const std::exception& e) { spdlog::error("{} {}: {}", method, path, e.what()); }
  co_return error_response(fail(errc::internal, method + " " + path));
}

awaitable<http::response> answer(services& s, http::request r) {
  std::string origin(r.header("origin"));
  bool allowed = allowed_origin(s.options, origin);
  http::response out;
  if (allowed && r.method == "OPTIONS" && r.has_header("access-control-request-method"))
    out = preflight(r);
  else
    out = co_await route(s, std::move(r));
  if (allowed) allow_origin(out, origin);
  co_return out;
}

} // namespace

http::handler make_api(services& s) {
  add_everything(s.routes);
  return [&s](http::request r) { return answer(s, std::move(r)); };
}

} // namespace troupe::net::rest
