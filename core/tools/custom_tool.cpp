#include "core/tools/custom_tool.hpp"

#include "core/base/text.hpp"
#include "core/tools/packaging.hpp"

namespace troupe::tools {

namespace {

json::value text_value(std::string_view s) { return json::value(boost::json::string(s)); }

json::object asked(std::string_view what, std::string_view source) {
  json::object out;
  out["do"] = boost::json::string(what);
  out["source"] = boost::json::string(source);
  return out;
}

std::vector<std::string> lines_of(const json::value& answer, std::string_view name) {
  std::string text(json::string_or(answer, name));
  if (text.empty()) return {};
  return {std::move(text)};
}

// Why a process ended without a result.
tool_exception silent_end(const json::value& answer) {
  if (auto* late = json::find(answer, "late"); late && late->is_bool() && late->get_bool())
    return {"TimeoutError", "the tool did not end in its time and was stopped"};
  if (auto* long_ = json::find(answer, "too_long"); long_ && long_->is_bool() && long_->get_bool())
    return {"ValueError", "the tool returned more than can be kept"};
  auto status = json::int_or(answer, "status", 0);
  if (status < 0)
    return {"ProcessError",
            "the tool's process was ended by signal " + std::to_string(-status) + " before it returned"};
  return {"ProcessError",
          "the tool's process ended with status " + std::to_string(status) + " before it returned"};
}

tool_result error_result(std::string_view name, const tool_exception& e) {
  auto line = "Error executing function " + std::string(name) + ": " + e.type + ": " + e.message;
  tool_result out;
  out.status = return_status::error;
  out.returned = text_value(text::prefix(line, max_error_chars));
  return out;
}

} // namespace

bool runs_in_sandbox(const tool& t) {
  return t.tool_type_ == tool_type::custom && t.source_code && t.source_type != "typescript";
}

// -- calls ----------------------------------------------------------------------------------------
variables variables_of(const agent& a, const tool& t) {
  variables out;
  for (auto& s : a.secrets) out.emplace_back(s.key, s.value);
  out.emplace_back("LETTA_AGENT_ID", a.id.str());
  out.emplace_back("LETTA_TOOL_ID", t.id.str());
  if (a.project_id) {
    out.emplace_back("LETTA_PROJECT_ID", *a.project_id);
    out.emplace_back("PROJECT_ID", *a.project_id);
  }
  return out;
}

bool asks_for_agent_state(std::string_view source) {
  return source.find("agent_state") != std::string_view::npos;
}

std::string run_request(const tool_run& r) {
  auto out = asked("run", r.source);
  out["name"] = boost::json::string(r.name);
  out["arguments"] = r.arguments;
  if (r.schema) out["schema"] = *r.schema;
  json::object environment;
  for (auto& [key, value] : r.environment) environment[key] = boost::json::string(value);
  out["environment"] = std::move(environment);
  if (!r.agent_state.empty()) out["agent"] = boost::json::string(r.agent_state);
  return json::print(json::value(std::move(out)));
}

run_answer read_run_answer(std::string_view name, const result<std::string>& answer) {
  run_answer out;
  if (!answer) {
    out.result = error_result(name, {"ProcessError", answer.error().message});
    return out;
  }
  auto document = json::try_parse(*answer);
  auto* outcome = document ? json::find(*document, "outcome") : nullptr;
  if (!outcome) {
    out.result =
        error_result(name, {"ProcessError", "the tool's process gave an answer that cannot be read"});
    return out;
  }
  if (auto* e = json::find(*outcome, "error"))
    out.result = error_result(
        name, {std::string(json::string_or(*e, "type")), std::string(json::string_or(*e, "message"))});
  else if (!outcome->is_object())
    out.result = error_result(name, silent_end(*document));
  else if (auto* returned = json::find(*outcome, "result"))
    out.result.returned = *returned;
  // Arguments that could not be read are told of as before anything ran.
  if (!json::find(*outcome, "unreadable")) out.result.stdout_ = lines_of(*document, "stdout");
  out.result.stderr_ = lines_of(*document, "stderr");
  if (auto* blocks = json::find(*outcome, "blocks"); blocks && blocks->is_object())
    for (auto& [label, value] : blocks->get_object())
      if (value.is_string())
        out.blocks.push_back(
            {std::string(label.data(), label.size()), std::string(json::view(value.get_string()))});
  return out;
}

json::value with_note(const tool_result& r, std::int64_t limit) {
  auto& v = r.returned;
  auto text = v.is_object() ? json::print_python(v) : json::python_str(v);
  auto length = text::length(text);
  if (length <= static_cast<std::size_t>(limit)) return v;
  return text_value(text + std::string(cut_note) + ": " + std::to_string(length) + " > " +
                    std::to_string(limit) + "]");
}

// -- sources --------------------------------------------------------------------------------------
namespace {

result<json::value> outcome_of(const result<std::string>& answer) {
  if (!answer) return fail(errc::unavailable, "Tools cannot be looked at now: " + answer.error().message);
  auto document = json::try_parse(*answer);
  auto* outcome = document ? json::find(*document, "outcome") : nullptr;
  if (!outcome || !outcome->is_object())
    return fail(errc::invalid_argument,
                "Failed to derive json schema: " +
                    (document ? silent_end(*document).message : std::string("no answer")));
  return *outcome;
}

} // namespace

std::string schema_request(std::string_view source, const std::optional<json::object>& arguments) {
  auto out = asked("schema", source);
  if (arguments) out["arguments_schema"] = *arguments;
  return json::print(json::value(std::move(out)));
}

result<json::object> read_schema_answer(const result<std::string>& answer) {
  auto outcome = outcome_of(answer);
  if (!outcome) return outcome.error();
  auto* schema = json::find(*outcome, "schema");
  if (schema && schema->is_object()) return schema->get_object();
  return fail(errc::invalid_argument,
              "Failed to derive json schema: " + std::string(json::string_or(*outcome, "refused")));
}

} // namespace troupe::tools
