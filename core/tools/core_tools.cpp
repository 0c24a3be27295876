#include "core/tools/core_tools.hpp"

#include "core/base/text.hpp"
#include "core/tools/block_tools.hpp"
#include "core/tools/search_tools.hpp"

#include <algorithm>
#include <map>

namespace troupe::tools {

namespace {

// One parameter of a tool, as its Python signature has it.
struct parameter {
  std::string_view name;
  enum class kind { text, integer, list } type = kind::text;
  bool required = true;
};

using arguments = json::object;
using function = outcome<json::value> (*)(const arguments&, tool_context&);

struct signature {
  std::vector<parameter> parameters;
  function run;
};

std::string argument(const arguments& a, std::string_view name) {
  auto* v = json::find(a, name);
  return v && !v->is_null() ? json::python_str(*v) : std::string{};
}

json::value text_value(const std::string& s) { return json::value(boost::json::string(s)); }

outcome<json::value> as_value(const outcome<std::string>& r) {
  if (!r) return r.error();
  return text_value(*r);
}

outcome<json::value> send_message(const arguments&, tool_context&) {
  return text_value("Sent message successfully.");
}
outcome<json::value> memory_finish_edits(const arguments&, tool_context&) { return json::value(nullptr); }

// -- of the companions of voice agents ------------------------------------------------------------
// What is stored is taken from the call, in the batch of its step (storage/voice_memories.hpp).
outcome<json::value> store_memories(const arguments& a, tool_context&) {
  auto* chunks = json::find(a, "chunks");
  if (!chunks || !chunks->is_array()) return value_error("chunks must be a list");
  for (auto& chunk : chunks->get_array())
    if (json::int_or(chunk, "start_index", -1) < 0 ||
        json::int_or(chunk, "end_index", -1) < json::int_or(chunk, "start_index", 0))
      return value_error("every chunk needs a start_index and an end_index that is not before it");
  return json::value(nullptr);
}
outcome<json::value> rethink_user_memory(const arguments& a, tool_context& c) {
  return as_value(blocks::rethink(c.blocks, "human", argument(a, "new_memory")));
}

outcome<json::value> core_memory_append(const arguments& a, tool_context& c) {
  return as_value(blocks::append(c.blocks, argument(a, "label"), argument(a, "content")));
}
outcome<json::value> core_memory_replace(const arguments& a, tool_context& c) {
  return as_value(blocks::replace_all(c.blocks, argument(a, "label"), argument(a, "old_content"),
                                      argument(a, "new_content")));
}
outcome<json::value> memory_replace(const arguments& a, tool_context& c) {
  return as_value(blocks::replace_once(c.blocks, argument(a, "label"), argument(a, "old_string"),
                                       argument(a, "new_string")));
}
outcome<json::value> memory_insert(const arguments& a, tool_context& c) {
  return as_value(blocks::insert(c.blocks, argument(a, "label"), argument(a, "new_string"),
                                 json::int_or(json::value(a), "insert_line", -1)));
}
outcome<json::value> memory_rethink(const arguments& a, tool_context& c) {
  return as_value(blocks::rethink(c.blocks, argument(a, "label"), argument(a, "new_memory")));
}
outcome<json::value> memory_apply_patch(const arguments& a, tool_context& c) {
  return as_value(blocks::apply_patch(c.blocks, argument(a, "label"), argument(a, "patch"), c.self, c.env));
}

outcome<json::value> memory_tool(const arguments& a, tool_context& c) {
  blocks::memory_command cmd;
  cmd.command = argument(a, "command");
  cmd.path = optional_argument(a, "path");
  cmd.file_text = optional_argument(a, "file_text");
  cmd.description = optional_argument(a, "description");
  cmd.old_string = optional_argument(a, "old_string");
  cmd.new_string = optional_argument(a, "new_string");
  cmd.insert_text = optional_argument(a, "insert_text");
  cmd.old_path = optional_argument(a, "old_path");
  cmd.new_path = optional_argument(a, "new_path");
  cmd.insert_line = json::int_or(json::value(a), "insert_line", -1);
  return as_value(blocks::run(c.blocks, cmd, c.self, c.env));
}

// -- signatures -----------------------------------------------------------------------------------
const std::map<std::string_view, signature>& signatures() {
  using k = parameter::kind;
  static const std::map<std::string_view, signature> table{
      {"send_message", {{{"message"}}, send_message}},
      {"conversation_search",
       {{{"query", k::text, false},
         {"roles", k::list, false},
         {"limit", k::integer, false},
         {"start_date", k::text, false},
         {"end_date", k::text, false}},
        conversation_search}},
      {"core_memory_append", {{{"label"}, {"content"}}, core_memory_append}},
      {"core_memory_replace", {{{"label"}, {"old_content"}, {"new_content"}}, core_memory_replace}},
      {"memory_replace", {{{"label"}, {"old_string"}, {"new_string"}}, memory_replace}},
      {"memory_insert", {{{"label"}, {"new_string"}, {"insert_line", k::integer, false}}, memory_insert}},
      {"memory_rethink", {{{"label"}, {"new_memory"}}, memory_rethink}},
      {"memory_finish_edits", {{}, memory_finish_edits}},
      {"store_memories", {{{"chunks", k::list}}, store_memories}},
      {"rethink_user_memory", {{{"new_memory"}}, rethink_user_memory}},
      {"finish_rethinking_memory", {{}, memory_finish_edits}},
      {"search_memory",
       {{{"convo_keyword_queries", k::list, false},
         {"start_minutes_ago", k::integer, false},
         {"end_minutes_ago", k::integer, false}},
        search_memory}},
      {"memory_apply_patch", {{{"label"}, {"patch"}}, memory_apply_patch}},
      {"memory",
       {{{"command"},
         {"path", k::text, false},
         {"file_text", k::text, false},
         {"description", k::text, false},
         {"old_string", k::text, false},
         {"new_string", k::text, false},
         {"insert_line", k::integer, false},
         {"insert_text", k::text, false},
         {"old_path", k::text, false},
         {"new_path", k::text, false}},
        memory_tool}},
  };
  return table;
}

// 'a', 'a' and 'b', 'a', 'b', and 'c': as Python lists missing arguments.
std::string quoted_list(const std::vector<std::string_view>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i) out += names.size() > 2 ? (i + 1 == names.size() ? ", and " : ", ") : " and ";
    out.append("'").append(names[i]).append("'");
  }
  return out;
}

std::optional<tool_exception> wrong_call(std::string_view name, const signature& s, const arguments& a) {
  std::vector<std::string_view> required, optional;
  for (auto& p : s.parameters) (p.required ? required : optional).push_back(p.name);
  return wrong_arguments("LettaCoreToolExecutor." + std::string(name), a, required, optional);
}

} // namespace

std::optional<std::string> optional_argument(const json::object& a, std::string_view name) {
  auto* v = json::find(a, name);
  if (!v || v->is_null()) return std::nullopt;
  return json::python_str(*v);
}

std::optional<tool_exception> wrong_arguments(std::string_view method, const json::object& given,
                                              const std::vector<std::string_view>& required,
                                              const std::vector<std::string_view>& optional) {
  auto name = std::string(method) + "()";
  auto has = [](auto& list, std::string_view x) {
    return std::find(list.begin(), list.end(), x) != list.end();
  };
  for (auto& [key, value] : given) {
    std::string_view one{key.data(), key.size()};
    if (!has(required, one) && !has(optional, one))
      return tool_exception{"TypeError",
                            name + " got an unexpected keyword argument '" + std::string(one) + "'"};
  }
  auto missing = required;
  std::erase_if(missing, [&](auto& p) { return json::find(given, p) != nullptr; });
  if (missing.empty()) return std::nullopt;
  return tool_exception{"TypeError", name + " missing " + std::to_string(missing.size()) +
                                         " required positional argument" + (missing.size() > 1 ? "s" : "") +
                                         ": " + quoted_list(missing)};
}

tool_result failed(std::string_view tool_name, const tool_exception& e) {
  auto line = "Error executing function " + std::string(tool_name) + ": " + e.type + ": " + e.message;
  tool_result out;
  out.status = return_status::error;
  out.returned = text_value(e.message);
  out.stderr_ = {std::string(text::prefix(line, max_error_chars))};
  return out;
}

tool_result run_core_tool(std::string_view name, const json::object& arguments, tool_context& context) {
  auto it = signatures().find(name);
  if (it == signatures().end()) return failed(name, value_error("Unknown function: " + std::string(name)));
  if (auto wrong = wrong_call(name, it->second, arguments)) return failed(name, *wrong);
  auto returned = it->second.run(arguments, context);
  if (!returned) return failed(name, returned.error());
  tool_result out;
  out.returned = std::move(*returned);
  return out;
}

} // namespace troupe::tools
