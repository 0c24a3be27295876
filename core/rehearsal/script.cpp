#include "core/rehearsal/script.hpp"

#include "core/base/text.hpp"

#include <re2/re2.h>

namespace troupe::rehearsal {

namespace {

// What a request says, as far as scripts look at it.
struct situation {
  std::string user;                 // the last user text
  std::string heard;                // what came last: of the user, of a group, of another agent
  std::vector<std::string> results; // of tools, since then
  std::size_t rounds = 0;           // replies with calls since then
  std::string system;
  std::vector<std::string> offered; // names of tools
  std::size_t user_turns = 0;       // user messages in the request
  std::size_t calls = 0;            // calls of tools in the whole request
};

std::string text_of(const json::value& message) {
  auto* content = json::find(message, "content");
  if (!content) return {};
  if (content->is_string()) return std::string(json::view(content->get_string()));
  std::string out;
  if (content->is_array())
    for (auto& part : content->get_array())
      out.append(out.empty() ? "" : " ").append(json::string_or(part, "text"));
  return out;
}

situation look(const json::value& request) {
  situation s;
  if (auto* messages = json::find(request, "messages"); messages && messages->is_array())
    for (auto& m : messages->get_array()) {
      auto role = json::string_or(m, "role");
      bool begins = role == "system" && s.system.empty();
      if (begins) s.system = text_of(m);
      if (role == "user") s.user = text_of(m);
      if (role == "user" || (role == "system" && !begins)) {
        s.heard = text_of(m);
        s.results.clear();
        s.rounds = 0;
        s.user_turns += role == "user";
      }
      if (auto* calls = json::find(m, "tool_calls"); calls && calls->is_array()) {
        ++s.rounds;
        s.calls += calls->get_array().size();
      }
      if (role == "tool") s.results.push_back(text_of(m));
    }
  if (auto* tools = json::find(request, "tools"); tools && tools->is_array())
    for (auto& t : tools->get_array())
      if (auto* f = json::find(t, "function")) s.offered.emplace_back(json::string_or(*f, "name"));
  return s;
}

// The value of a memory block, as the system prompt shows it.
std::optional<std::string> block_value(const std::string& system, const std::string& label) {
  auto begin = system.find("<" + label + ">\n");
  if (begin == std::string::npos) return std::nullopt;
  auto value = system.find("<value>\n", begin);
  auto end = system.find("\n</value>", value == std::string::npos ? begin : value + 7);
  if (value == std::string::npos || end == std::string::npos) return std::nullopt;
  value += 8;
  return end < value ? std::string{} : system.substr(value, end - value);
}

// What a packed tool result says.
std::string result_text(const std::string& packed) {
  auto v = json::try_parse(packed);
  auto* message = v ? json::find(*v, "message") : nullptr;
  return message ? json::python_str(*message) : packed;
}

struct scene {
  std::shared_ptr<RE2> user, heard, system; // what these have to hold; none: anything
  std::vector<std::string> needs_tools;     // must be offered
  std::vector<std::string> needs_blocks;    // must be in the prompt
  std::vector<json::value> replies;         // one a round
};

class parsed_script final : public script {
public:
  std::string name_;
  std::int64_t window_ = 32'000;
  std::int64_t token_delay_ms_ = 0;
  std::vector<scene> scenes_;
  json::value otherwise_, after_tools_;

  const std::string& name() const override { return name_; }
  std::int64_t context_window() const override { return window_; }

  performance answer(const json::value& request) const override {
    auto s = look(request);
    for (auto& sc : scenes_) {
      std::vector<std::string> captured;
      if (!matches(sc, s, captured)) continue;
      if (s.rounds < sc.replies.size()) return perform(sc.replies[s.rounds], s, captured);
      break; // the scene is over
    }
    std::vector<std::string> none{s.user};
    return perform(s.rounds > 0 || !s.results.empty() ? after_tools_ : otherwise_, s, none);
  }

private:
  static bool matches(const scene& sc, const situation& s, std::vector<std::string>& captured) {
    for (auto& t : sc.needs_tools)
      if (std::find(s.offered.begin(), s.offered.end(), t) == s.offered.end()) return false;
    for (auto& b : sc.needs_blocks)
      if (!block_value(s.system, b)) return false;
    captured.assign(1, s.user);
    return fits(sc.system, s.system, captured) && fits(sc.heard, s.heard, captured) &&
           fits(sc.user, s.user, captured);
  }

  // What the pattern and its groups matched is captured.
  static bool fits(const std::shared_ptr<RE2>& pattern, const std::string& text,
                   std::vector<std::string>& captured) {
    if (!pattern) return true;
    auto groups = static_cast<std::size_t>(pattern->NumberOfCapturingGroups());
    std::vector<re2::StringPiece> found(groups + 1);
    if (!pattern->Match(text, 0, text.size(), RE2::UNANCHORED, found.data(), static_cast<int>(found.size())))
      return false;
    captured.clear();
    for (auto& f : found) captured.emplace_back(f.data() ? std::string(f) : std::string{});
    return true;
  }

  // {{0}} the match, {{1}}.. its groups, {{text}} the user's text, {{result}} the last tool result,
  // {{memory.LABEL}} the value of a block, {{turn}} the number of user messages.
  static std::string filled(std::string_view t, const situation& s,
                            const std::vector<std::string>& captured) {
    std::string out;
    for (;;) {
      auto open = t.find("{{"), close = open == std::string_view::npos ? open : t.find("}}", open);
      if (close == std::string_view::npos) return out.append(t);
      out += t.substr(0, open);
      auto word = text::trim(t.substr(open + 2, close - open - 2));
      if (word == "text")
        out += s.user;
      else if (word == "heard")
        out += s.heard;
      else if (word == "result")
        out += s.results.empty() ? std::string{} : result_text(s.results.back());
      else if (word == "turn")
        out += std::to_string(s.user_turns);
      else if (word.starts_with("memory."))
        out += block_value(s.system, std::string(word.substr(7))).value_or("");
      else if (word.size() == 1 && word[0] >= '0' && word[0] <= '9' &&
               static_cast<std::size_t>(word[0] - '0') < captured.size())
        out += captured[static_cast<std::size_t>(word[0] - '0')];
      else
        out += t.substr(open, close + 2 - open);
      t.remove_prefix(close + 2);
    }
  }

  static json::value filled(const json::value& v, const situation& s,
                            const std::vector<std::string>& captured) {
    if (v.is_string())
      return json::value(boost::json::string(filled(json::view(v.get_string()), s, captured)));
    if (v.is_array()) {
      json::array out;
      for (auto& x : v.get_array()) out.push_back(filled(x, s, captured));
      return json::value(std::move(out));
    }
    if (v.is_object()) {
      json::object out;
      for (auto& [key, x] : v.get_object()) out[key] = filled(x, s, captured);
      return json::value(std::move(out));
    }
    return v;
  }

  performance perform(const json::value& reply, const situation& s,
                      const std::vector<std::string>& captured) const {
    performance p;
    p.token_delay_ms = json::int_or(reply, "token_delay_ms", token_delay_ms_);
    if (auto reason = json::string_or(reply, "finish_reason"); !reason.empty())
      p.finish_reason = std::string(reason);
    if (auto* usage = json::find(reply, "usage")) p.usage = *usage;
    auto* list = json::find(reply, "say");
    if (!list || !list->is_array()) return p;
    std::size_t calls = 0;
    for (auto& item : list->get_array()) {
      action a;
      auto said = [&](const char* key, action::kind what) {
        auto* v = json::find(item, key);
        if (!v || !v->is_string()) return false;
        a.what = what;
        a.text = filled(json::view(v->get_string()), s, captured);
        return true;
      };
      if (said("text", action::kind::text) || said("reasoning", action::kind::reasoning)) {
      } else if (auto name = json::string_or(item, "call"); !name.empty()) {
        a.what = action::kind::call;
        a.call_name = filled(name, s, captured);
        a.call_id = "call_" + std::to_string(s.calls + calls++);
        auto* args = json::find(item, "arguments");
        a.arguments = args && args->is_string()
                          ? filled(json::view(args->get_string()), s, captured)
                          : json::print(args ? filled(*args, s, captured) : json::value(json::object{}));
      } else if (auto ms = json::int_or(item, "delay_ms", -1); ms >= 0) {
        a.what = action::kind::delay;
        a.milliseconds = ms;
      } else if (auto status = json::int_or(item, "error", 0); status > 0) {
        a.what = action::kind::error;
        a.status = static_cast<int>(status);
        a.text = std::string(json::string_or(item, "message", "scripted failure"));
      } else if (json::find(item, "hang")) {
        a.what = action::kind::hang;
      } else {
        continue;
      }
      p.actions.push_back(std::move(a));
    }
    return p;
  }
};

error bad(const std::string& where, const std::string& what) {
  return fail(errc::invalid_argument, "rehearsal script, " + where + ": " + what);
}

result<json::value> check_reply(const json::value& v, const std::string& where) {
  auto* say = json::find(v, "say");
  if (!say || !say->is_array()) return bad(where, "a reply needs a list `say`");
  std::size_t n = 0;
  for (auto& item : say->get_array()) {
    bool known = false;
    for (auto* key : {"text", "reasoning", "call", "delay_ms", "error", "hang"})
      known |= json::find(item, key) != nullptr;
    if (!known)
      return bad(where + ", say[" + std::to_string(n) + "]",
                 "one of text, reasoning, call, delay_ms, error, hang is needed");
    ++n;
  }
  return v;
}

std::vector<std::string> names(const json::value* v) {
  std::vector<std::string> out;
  if (v && v->is_string()) out.emplace_back(json::view(v->get_string()));
  if (v && v->is_array())
    for (auto& x : v->get_array())
      if (x.is_string()) out.emplace_back(json::view(x.get_string()));
  return out;
}

result<scene> parse_scene(const json::value& v, const std::string& where) {
  scene sc;
  for (auto [member, pattern] : {std::pair("user", &sc.user), {"heard", &sc.heard}, {"system", &sc.system}}) {
    auto text = json::string_or(v, member);
    if (text.empty()) continue;
    RE2::Options options;
    options.set_case_sensitive(false);
    options.set_log_errors(false);
    *pattern = std::make_shared<RE2>(std::string(text), options);
    if (!(*pattern)->ok()) return bad(where + ", " + member, (*pattern)->error());
  }
  sc.needs_tools = names(json::find(v, "offered"));
  sc.needs_blocks = names(json::find(v, "blocks"));
  auto* replies = json::find(v, "replies");
  if (!replies || !replies->is_array() || replies->get_array().empty())
    return bad(where, "a list `replies` is needed");
  for (auto& r : replies->get_array()) {
    auto reply = check_reply(r, where + ", replies[" + std::to_string(sc.replies.size()) + "]");
    if (!reply) return reply.error();
    sc.replies.push_back(std::move(*reply));
  }
  return sc;
}

constexpr std::string_view default_otherwise = R"({"say":[{"text":"You said: {{text}}"}]})";
constexpr std::string_view default_after_tools = R"({"say":[{"text":"Done: {{result}}"}]})";

} // namespace

result<std::unique_ptr<script>> parse_script(std::string_view text, std::string name) {
  auto v = json::parse(text);
  if (!v) return bad("character " + std::to_string(v.error().position), v.error().message);
  if (!v->is_object()) return bad("top", "an object is needed");
  auto out = std::make_unique<parsed_script>();
  out->name_ = std::move(name);
  out->window_ = json::int_or(*v, "context_window", 32'000);
  out->token_delay_ms_ = json::int_or(*v, "token_delay_ms", 0);
  if (auto* scenes = json::find(*v, "scenes")) {
    if (!scenes->is_array()) return bad("scenes", "a list is needed");
    for (auto& s : scenes->get_array()) {
      auto sc = parse_scene(s, "scenes[" + std::to_string(out->scenes_.size()) + "]");
      if (!sc) return sc.error();
      out->scenes_.push_back(std::move(*sc));
    }
  }
  auto reply_or = [&](const char* key, std::string_view fallback) -> result<json::value> {
    auto* given = json::find(*v, key);
    return given ? check_reply(*given, key) : result<json::value>(*json::try_parse(fallback));
  };
  auto otherwise = reply_or("otherwise", default_otherwise),
       after = reply_or("after_tools", default_after_tools);
  if (!otherwise) return otherwise.error();
  if (!after) return after.error();
  out->otherwise_ = std::move(*otherwise);
  out->after_tools_ = std::move(*after);
  return std::unique_ptr<script>(std::move(out));
}

} // namespace troupe::rehearsal
