// Plays a turn from a text: lines that begin with `@` set the scene, lines with `>` are events, and everything else
// is what the machine is expected to do. play() writes the same text anew with what it really does, so that a case is
// one text and its check one comparison.
//
//   @tools a b        @rules [..]       @parallel @tokens @autoclear   @steps 2   @mode async
//   @request {..}     @client a         @user text / @asked c1 a {} | .. / @with c0 b {}: end of the context
//   > start   > say text   > say nothing   > call c1 a {"x":1} | c2 b {}   > returned c1 ok text | c2 error text
//   > edited c1 ..: as returned, with one edit of a block
//   > near text | > calls c1 a {}: as say and call, with the window nearly full   > long: the context is too long
//   > committed   > conflict   > full   > cancel   > fail rate_limit|visible
#pragma once

#include "core/base/text.hpp"
#include "core/tools/packaging.hpp"
#include "core/turn/types.hpp"
#include "tests/unit/support.hpp"

#include <functional>

namespace troupe::test {

class turn_driver {
public:
  using maker = std::function<std::unique_ptr<turn::machine>(turn::input, environment&)>;

  explicit turn_driver(maker make) : make_(std::move(make)) {
    in_.self.id = nth<agent_id>(1);
    in_.run = nth<run_id>(1);
    in_.acting.user = nth<user_id>(1);
    in_.llm.model = "m";
    in_.llm.context_window = 1000;
    context(make_message(message_role::system, "be good"));
    request(R"({"messages":[{"role":"user","content":"hi"}]})");
  }

  // The scene may also be set by hand, before the first event.
  turn::input& input() { return in_; }
  const std::vector<turn::effect>& effects() const { return all_; }
  fixed_environment& env() { return env_; }

  std::string play(std::string_view transcript) {
    std::string out;
    for (auto& raw : text::split_lines(transcript)) {
      auto line = text::trim(raw);
      if (line.empty() || (line[0] != '@' && line[0] != '>')) continue;
      out.append(line).append("\n");
      if (line[0] == '@') {
        scene(line.substr(1));
        continue;
      }
      if (!machine_) machine_ = make_(in_, env_);
      for (auto& e : machine_->handle(event(text::trim(line.substr(1))))) {
        out += std::visit([&](auto& x) { return show(x); }, e) + "\n";
        all_.push_back(std::move(e));
      }
    }
    return out;
  }

  // The text of a case without its indentation, as play() gives it.
  static std::string trimmed(std::string_view transcript) {
    std::string out;
    for (auto& line : text::split_lines(transcript))
      if (auto t = text::trim(line); !t.empty()) out.append(t).append("\n");
    return out;
  }

private:
  // -- the scene ----------------------------------------------------------------------------------
  void scene(std::string_view line) {
    auto [word, rest] = cut(line);
    if (word == "tools")
      for (auto& name : text::split(rest, ' '))
        in_.tools.push_back(std::make_shared<const tool>(make_tool(name, in_.tools.size() + 1)));
    else if (word == "rules")
      in_.self.tool_rules = made<std::vector<tool_rule>>(rest);
    else if (word == "parallel")
      in_.llm.parallel_tool_calls = true;
    else if (word == "tokens")
      in_.tokens = true;
    else if (word == "autoclear")
      in_.self.message_buffer_autoclear = true;
    else if (word == "steps")
      in_.request.max_steps = std::stoll(rest);
    else if (word == "mode")
      in_.how = rest == "async"        ? turn::mode::async
                : rest == "stream"     ? turn::mode::stream
                : rest == "background" ? turn::mode::background
                                       : turn::mode::blocking;
    else if (word == "type")
      in_.self.type = json::enum_from<agent_type>(rest).value();
    else if (word == "request")
      request(rest);
    else if (word == "client")
      in_.request.client_tools.push_back({rest, std::nullopt, std::nullopt});
    else if (word == "user")
      context(make_message(message_role::user, rest));
    else if (word == "asked" || word == "with") {
      auto m = make_message(word == "asked" ? message_role::approval : message_role::assistant);
      m.tool_calls = calls(rest);
      m.step = nth<step_id>(7);
      context(std::move(m));
    } else
      throw std::runtime_error("unknown scene: " + word);
  }

  void context(message m) {
    m.id = nth<message_id>(in_.in_context.size() + 1);
    in_.in_context.push_back(std::make_shared<const message>(std::move(m)));
  }
  void request(std::string_view body) { in_.request = made<send_request>(body); }

  // -- events -------------------------------------------------------------------------------------
  turn::event event(std::string_view line) {
    auto [word, rest] = cut(line);
    if (word == "start") return turn::started{};
    if (word == "committed") return turn::committed{};
    if (word == "cancel") return turn::cancel{};
    if (word == "conflict") return turn::commit_failed{fail(errc::conflict, "moved on")};
    if (word == "full") return turn::commit_failed{fail(errc::storage_full, "The disk is full")};
    if (word == "say") return reply(rest == "nothing" ? "" : rest, {}, "stop");
    if (word == "cut") return reply(rest, {}, "length");
    if (word == "call") return reply("", calls(rest), "tool_calls");
    if (word == "near") return reply(rest, {}, "stop", 950); // of 1,000 tokens
    if (word == "calls") return reply("", calls(rest), "tool_calls", 950);
    if (word == "long")
      return turn::model_failed{
          llm_failure(errc::llm_context_window, "ContextWindowExceededError", "too long"), 5,
          rest == "visible"};
    if (word == "fail")
      return turn::model_failed{
          llm_failure(errc::llm_rate_limit, "LLMRateLimitError", "RATE_LIMIT_EXCEEDED: slow"), 5,
          rest == "visible"};
    if (word == "returned" || word == "edited") return outcomes(rest, word == "edited");
    throw std::runtime_error("unknown event: " + word);
  }

  static turn::event reply(std::string text, std::vector<tool_call> calls, const char* finish,
                           std::int64_t tokens = 12) {
    model_reply r;
    if (!text.empty()) r.content.emplace_back(text_content{std::move(text), std::nullopt});
    r.calls = std::move(calls);
    r.finish_reason = finish;
    r.usage = {tokens - 2, 2, tokens, std::nullopt, std::nullopt, std::nullopt};
    return turn::model_replied{std::move(r), 5};
  }

  static turn::event outcomes(const std::string& line, bool edited) {
    turn::tools_finished e;
    for (auto& one : alternatives(line)) {
      auto [id, rest] = cut(one);
      auto [status, text] = cut(rest);
      tools::tool_result r;
      r.status = status == "ok" ? return_status::success : return_status::error;
      r.returned = boost::json::string(text);
      e.outcomes.push_back({id, std::move(r)});
    }
    if (edited)
      e.edits.push_back({tools::memory_edit::kind::value, nth<block_id>(1), 1, "new", std::nullopt});
    return e;
  }

  // -- what is seen -------------------------------------------------------------------------------
  static std::string show(const turn::call_model& e) {
    auto& r = e.request;
    std::string out = "model:";
    for (auto& m : r.messages) out += " " + show(*m);
    out += ";";
    for (auto& t : r.tools) out += " " + t.name;
    if (r.choice.what == tool_choice::kind::required) out += " required";
    if (r.choice.what == tool_choice::kind::named) out += " forced " + r.choice.name;
    return out + (r.parallel_tool_calls ? " parallel" : "");
  }
  static std::string show(const turn::run_tools& e) {
    std::string out = "tools:";
    for (auto& c : e.calls) out += " " + c.call.id + " " + c.call.name + " " + json::print(c.arguments);
    return out;
  }
  static std::string show(const turn::commit& e) {
    auto& b = e.batch;
    std::string out = "commit:";
    if (b.started) out += " started";
    if (b.autoclear) out += " clear";
    for (auto& m : b.messages) out += " " + show(*m);
    if (b.rewrite) out += " summary, drops " + std::to_string(b.rewrite->dropped.size());
    if (b.step_) out += "; step " + text_of(b.step_->status) + text_of(b.step_->stop_reason_);
    if (!b.edits.empty()) out += "; edits " + std::to_string(b.edits.size());
    if (!b.tools_used.empty()) out += "; used " + std::to_string(b.tools_used.size());
    if (b.end) out += "; run " + text_of(b.end->status) + text_of(b.end->reason);
    if (b.end && b.end->metadata.contains("error")) out += " with error";
    if (b.last_stop_reason) out += "; agent" + text_of(b.last_stop_reason);
    return out;
  }
  static std::string show(const turn::emit& e) {
    std::string out = "emit:";
    for (auto& m : e.messages) out += " " + show(*m);
    return out;
  }
  static std::string show(const turn::say& e) {
    std::string out = "say:";
    for (auto& body : e.bodies) {
      auto event = json::try_parse(body).value_or(nullptr);
      out += " " + std::string(json::string_or(event, "message_type"));
    }
    return out;
  }
  static std::string show(const turn::abandon_model&) { return "abandon"; }
  template <class E> static std::string show(const E&) { return "of a group"; }
  static std::string show(const turn::abandon_tools&) { return "abandon tools"; }
  static std::string show(const turn::finished& e) {
    std::string out = "finished" + text_of(e.reason);
    if (e.failure) out += " failed: " + e.failure->message;
    if (!e.durable) out += ", not stored";
    return out + "; " + std::to_string(e.usage.step_count) + " calls of the model";
  }

  static std::string show(const message& m) {
    if (m.role == message_role::approval) return is_approval_request(m) ? "asks" + show_calls(m) : answers(m);
    std::string out(json::enum_text(m.role));
    if (m.role == message_role::tool) return out + returns(m);
    if (auto said = troupe::text_of(m); !said.empty()) out += "(" + said + ")";
    return out + show_calls(m);
  }
  static std::string show_calls(const message& m) {
    std::string out;
    for (auto& c : m.tool_calls) out += (out.empty() ? "[" : ", ") + c.id + " " + c.name + " " + c.arguments;
    return out.empty() ? out : out + "]";
  }
  static std::string returns(const message& m) {
    std::string out = "{";
    for (auto& r : m.tool_returns) {
      auto* packed = std::get_if<std::string>(&r.func_response);
      auto u = packed ? tools::unpack_result(*packed) : std::nullopt;
      out += (out.size() > 1 ? ", " : "") + r.tool_call_id.value_or("?") + " " +
             std::string(json::enum_text(r.status)) + " " + (u ? u->message : "parts");
    }
    return out + "}";
  }
  static std::string answers(const message& m) {
    std::string out = "answers{";
    for (auto& a : m.approvals)
      out += (out.back() == '{' ? "" : ", ") + a.tool_call_id +
             (a.is_return ? " returned"
              : a.approve ? " yes"
                          : " no");
    return out + "}";
  }
  template <class E> static std::string text_of(E e) { return std::string(json::enum_text(e)); }
  template <class E> static std::string text_of(const std::optional<E>& e) {
    return e ? " " + text_of(*e) : std::string{};
  }

  // -- texts --------------------------------------------------------------------------------------
  static std::pair<std::string, std::string> cut(std::string_view line) {
    auto space = line.find(' ');
    if (space == std::string_view::npos) return {std::string(line), {}};
    return {std::string(line.substr(0, space)), std::string(text::trim(line.substr(space + 1)))};
  }
  static std::vector<std::string> alternatives(const std::string& line) {
    std::vector<std::string> out;
    for (auto& part : text::split(line, '|')) out.emplace_back(text::trim(part));
    return out;
  }
  static std::vector<tool_call> calls(const std::string& line) {
    std::vector<tool_call> out;
    for (auto& one : alternatives(line)) {
      auto [id, rest] = cut(one);
      auto [name, arguments] = cut(rest);
      out.push_back({id == "-" ? "" : id, name, arguments});
    }
    return out;
  }

  maker make_;
  fixed_environment env_;
  turn::input in_;
  std::unique_ptr<turn::machine> machine_;
  std::vector<turn::effect> all_;
};

// One case: its name and its text.
struct transcript {
  const char* name;
  const char* text;
};

} // namespace troupe::test
