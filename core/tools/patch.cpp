// memory_apply_patch (reference: resources §5.4).
#include "core/base/text.hpp"
#include "core/prompt/system_prompt.hpp"
#include "core/tools/block_tools.hpp"

#include <algorithm>

namespace troupe::tools::blocks {

namespace {

using lines = std::vector<std::string>;

bool blank(std::string_view s) { return text::trim(s).empty(); }

std::vector<lines> hunks_of(const std::string& patch) {
  std::vector<lines> out;
  lines hunk;
  auto flush = [&] {
    if (!hunk.empty()) out.push_back(std::move(hunk));
    hunk.clear();
  };
  for (auto& line : text::split_lines(text::expand_tabs(patch))) {
    if (line.starts_with("*** ") || line.starts_with("---") || line.starts_with("+++")) continue;
    if (line.starts_with("@@"))
      flush();
    else if (line.starts_with(' ') || line.starts_with('-') || line.starts_with('+'))
      hunk.push_back(line);
    else if (blank(line))
      hunk.emplace_back(" "); // a blank line is an empty line of context
  }
  flush();
  return out;
}

// Where `wanted` stands in `all`.
std::vector<std::size_t> places(const lines& all, const lines& wanted) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; !wanted.empty() && i + wanted.size() <= all.size(); ++i)
    if (std::equal(wanted.begin(), wanted.end(), all.begin() + static_cast<std::ptrdiff_t>(i)))
      out.push_back(i);
  return out;
}

std::optional<tool_exception> apply_hunk(lines& current, const lines& hunk) {
  lines expected, replacement;
  for (auto& line : hunk) {
    if (line[0] != '+') expected.push_back(line.substr(1));
    if (line[0] != '-') replacement.push_back(line.substr(1));
  }
  if (expected.empty()) { // only additions and nothing to hold on to: at the end
    current.insert(current.end(), replacement.begin(), replacement.end());
    return std::nullopt;
  }
  auto found = places(current, expected);
  if (found.empty())
    return value_error(
        "Failed to apply patch: expected hunk context not found in the memory block. Verify the target lines "
        "exist and "
        "try providing more context. Expected start:\n" +
        text::join(lines(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(
                                                                  std::min<std::size_t>(4, expected.size()))),
                   "\n"));
  if (found.size() > 1)
    return value_error("Failed to apply patch: hunk context matched multiple places in the memory block. "
                       "Please add more unique "
                       "surrounding context to disambiguate.");
  auto at = current.begin() + static_cast<std::ptrdiff_t>(found[0]);
  at = current.erase(at, at + static_cast<std::ptrdiff_t>(expected.size()));
  current.insert(at, replacement.begin(), replacement.end());
  return std::nullopt;
}

outcome<std::string> patched(const std::string& value, const std::string& patch) {
  auto hunks = hunks_of(patch);
  if (hunks.empty())
    return value_error("No applicable hunks found in patch. Ensure lines start with ' ', '-', or '+'.");
  auto current = text::split(text::expand_tabs(value), '\n');
  for (auto& hunk : hunks)
    if (auto wrong = apply_hunk(current, hunk)) return *wrong;
  return text::join(current, "\n");
}

struct action {
  enum class kind { add, update, remove, move } what;
  std::string label;
  std::string text; // add: description; move: the new label
  lines body;       // add: the lines; update: the patch
};

std::string after_colon(const std::string& line) {
  return std::string(text::trim(std::string_view(line).substr(line.find(':') + 1)));
}

outcome<std::vector<action>> actions_of(const std::string& patch) {
  std::vector<action> out;
  std::optional<action> open;
  std::optional<std::string> last;
  auto flush = [&] {
    if (open) out.push_back(std::move(*open));
    open.reset();
  };
  auto all = text::split_lines(patch);
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto& line = all[i];
    struct header {
      const char* text;
      action::kind what;
    };
    auto is = [&](const char* h) { return line.starts_with(h); };
    constexpr header headers[] = {{"*** Add Block:", action::kind::add},
                                  {"*** Delete Block:", action::kind::remove},
                                  {"*** Update Block:", action::kind::update}};
    auto it = std::find_if(std::begin(headers), std::end(headers), [&](auto& h) { return is(h.text); });
    if (it != std::end(headers)) {
      flush();
      auto label = after_colon(line);
      if (label.empty()) return value_error(std::string(it->text) + " must specify a non-empty label");
      last = label;
      open = action{it->what, label, {}, {}};
      if (it->what == action::kind::add && i + 1 < all.size() && all[i + 1].starts_with("Description:"))
        open->text = after_colon(all[++i]);
    } else if (is("*** Move to:")) {
      auto label = after_colon(line);
      if (label.empty()) return value_error("*** Move to: must specify a non-empty new label");
      if (!last) return value_error("*** Move to: must follow an Add/Update/Delete header");
      flush(); // what the header above asked for comes first, then the move
      out.push_back({action::kind::move, *last, label, {}});
      last = label;
    } else if (open && open->what == action::kind::add) {
      if (line.starts_with('+'))
        open->body.push_back(line.substr(1));
      else if (blank(line))
        open->body.emplace_back();
    } else if (open && open->what == action::kind::update) {
      open->body.push_back(line);
    }
  }
  flush();
  if (out.empty())
    return value_error(
        "No operations found. Provide at least one of: *** Add Block, *** Delete Block, *** Update Block.");
  return out;
}

outcome<std::string> carry_out(memory& m, const action& a, const agent& self, environment& env) {
  switch (a.what) {
  case action::kind::add: {
    auto value = text::join(a.body, "\n");
    while (value.ends_with('\n')) value.pop_back();
    auto done = create(m, "/memories/" + a.label, a.text, value, self, env);
    if (!done) return done.error();
    return "Created memory block '" + a.label + "'";
  }
  case action::kind::remove: {
    auto done = remove(m, "/memories/" + a.label);
    if (!done) return done.error();
    return "Deleted memory block '" + a.label + "'";
  }
  case action::kind::move: {
    auto done = rename(m, "/memories/" + a.label, "/memories/" + a.text);
    if (!done) return done.error();
    return "Renamed memory block '" + a.label + "' to '" + a.text + "'";
  }
  case action::kind::update: {
    auto b = existing(m, a.label);
    if (b) b = writable(m, a.label);
    if (!b) return b.error();
    auto value = patched((*b)->value, text::join(a.body, "\n"));
    if (!value) return value.error();
    m.set_value(a.label, *value);
    return "Updated memory block '" + a.label + "'";
  }
  }
  return value_error("Unknown operation kind");
}

bool is_extended(const std::string& patch) {
  for (auto& line : text::split_lines(patch))
    for (std::string_view h : {"*** Add Block:", "*** Delete Block:", "*** Update Block:", "*** Move to:"})
      if (line.starts_with(h)) return true;
  return false;
}

} // namespace

outcome<std::string> apply_patch(memory& m, const std::string& label, const std::string& patch,
                                 const agent& self, environment& env) {
  if (patch.find(prompt::text("line_number_warning")) != std::string::npos)
    return value_error("Patch contains the line number warning banner, which is not allowed. Provide only "
                       "the text to edit.");
  for (auto& line : text::split(patch, '\n')) {
    auto at = line.find_first_not_of(" \t+-");
    auto end = at;
    while (end != std::string::npos && end < line.size() && line[end] >= '0' && line[end] <= '9') ++end;
    if (at != std::string::npos && end > at && line.compare(end, 3, "→") == 0)
      return value_error("Patch contains a line number prefix, which is not allowed. Do not include line "
                         "numbers (they are for display only).");
  }
  if (!is_extended(patch)) {
    auto b = existing(m, label);
    if (b) b = writable(m, label);
    if (!b) return b.error();
    auto value = patched((*b)->value, patch);
    if (!value) return value.error();
    m.set_value(label, *value);
    return *value;
  }
  auto actions = actions_of(patch);
  if (!actions) return actions.error();
  memory trial = m; // all of it or nothing
  lines done;
  for (auto& a : *actions) {
    auto text = carry_out(trial, a, self, env);
    if (!text) return text.error();
    done.push_back("- " + *text);
  }
  m = std::move(trial);
  return "Successfully applied memory patch operations. Your system prompt has been recompiled with the "
         "updated memory contents and is now "
         "active in your context.\n\nOperations completed:\n" +
         text::join(done, "\n");
}

} // namespace troupe::tools::blocks
