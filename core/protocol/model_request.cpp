#include "core/protocol/model_request.hpp"

#include "core/base/text.hpp"

namespace troupe {

error llm_failure(errc code, std::string_view error_class, std::string message) {
  error e{code, std::move(message), {}};
  e.extra["class"] = boost::json::string_view(error_class.data(), error_class.size());
  return e;
}

std::string_view llm_error_class(const error& e) { return json::string_or(e.extra, "class", "LLMError"); }

offered_tool offered(const shared_tool& t) {
  offered_tool out{t->name, {}, {}, false};
  if (!t->json_schema) return out;
  out.description = std::string(json::string_or(*t->json_schema, "description"));
  auto* p = json::find(*t->json_schema, "parameters");
  if (p && p->is_object()) out.parameters = {t, p->get_object()};
  return out;
}

std::string cut_for_prompt(const std::string& text, std::int64_t budget) {
  if (static_cast<std::int64_t>(text.size()) <= budget) return text; // bytes bound characters
  auto length = static_cast<std::int64_t>(text::length(text));
  if (length <= budget) return text;
  return std::string(text::prefix(text, static_cast<std::size_t>(budget))) + "... [truncated " +
         std::to_string(length - budget) + " chars]";
}

} // namespace troupe
