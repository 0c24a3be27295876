#include "core/tools/packaging.hpp"

#include "core/base/text.hpp"

namespace troupe::tools {

namespace {

std::string numbers(std::size_t length, std::int64_t limit) {
  return std::to_string(length) + " > " + std::to_string(limit);
}

bool never_cut(std::string_view name) {
  return name == "conversation_search" || name == "conversation_search_date" ||
         name == "archival_memory_search";
}

json::value message_of(const tool_result& r, std::string_view name, std::int64_t limit) {
  auto& v = r.returned;
  auto text = v.is_object() ? json::print_python(v) : json::python_str(v);
  auto length = text::length(text);
  if (!never_cut(name) && length > static_cast<std::size_t>(std::max<std::int64_t>(limit, 0))) {
    // The original adds a first note (": 101 > 100]") without cutting, then cuts and counts that note too.
    auto counted = length + cut_note.size() + numbers(length, limit).size() + 3;
    std::string cut(text::prefix(text, static_cast<std::size_t>(limit)));
    cut.append(cut_note).append(" (").append(numbers(counted, limit)).append(")]");
    return json::value(boost::json::string(cut));
  }
  if (v.is_object()) return v;
  return json::value(boost::json::string(text));
}

} // namespace

std::string pack_result(const tool_result& r, std::string_view tool_name, std::int64_t limit, timestamp now,
                        const std::string& zone) {
  json::object packed;
  packed["status"] = r.status == return_status::success ? "OK" : "Failed";
  packed["message"] = message_of(r, tool_name, limit);
  packed["time"] = boost::json::string(format_prompt_time(now, zone));
  return json::print_packed(json::value(std::move(packed)));
}

tool_return make_return(const tool_call& call, const tool_result& r, std::int64_t limit, timestamp now,
                        const std::string& zone) {
  tool_return out;
  out.tool_call_id = call.id;
  out.status = r.status;
  out.stdout_ = r.stdout_;
  out.stderr_ = r.stderr_;
  out.func_response = pack_result(r, call.name, limit, now, zone);
  return out;
}

tool_return denied_return(const tool_call& call, const std::optional<std::string>& reason, timestamp now,
                          const std::string& zone) {
  tool_result r;
  r.status = return_status::error;
  r.returned =
      boost::json::string("Error: request to call tool denied. User reason: " + reason.value_or("None"));
  return make_return(call, r, 50000, now, zone);
}

void add_return(message& m, tool_return r) {
  m.content.emplace_back(text_content{std::get<std::string>(r.func_response), std::nullopt});
  m.tool_returns.push_back(std::move(r));
}

std::optional<unpacked> unpack_result(std::string_view packed) {
  auto v = json::try_parse(packed);
  if (!v || !v->is_object()) return std::nullopt;
  auto* message = json::find(*v, "message");
  auto status = json::string_or(*v, "status");
  if (!message || (status != "OK" && status != "Failed")) return std::nullopt;
  return unpacked{json::python_str(*message), status == "OK" ? return_status::success : return_status::error};
}

} // namespace troupe::tools
