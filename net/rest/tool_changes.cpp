// /tools: making, changing and removing tools (reference: resources §6.1)
#include "core/tools/base_tools.hpp"
#include "net/rest/parameters.hpp"
#include "net/rest/resources.hpp"
#include "net/rest/tool_sources.hpp"
#include "storage/message_search.hpp"
#include "storage/organizations.hpp"
#include "storage/tools.hpp"

#include <openssl/sha.h>

namespace troupe::net::rest {

awaitable<result<std::string>> in_sandbox(call& c, std::string body) {
  actors::sandbox_job_ptr job =
      std::make_shared<actors::sandbox_job>(actors::sandbox_job{c.s.env->random_uuid(), std::move(body)});
  co_return co_await ask<std::string>(c.s.self, c.s.sandbox, std::move(job));
}

namespace {

std::optional<std::string> text_in(const json::object& schema, std::string_view name) {
  auto* v = json::find(schema, name);
  if (!v || !v->is_string()) return std::nullopt;
  return std::string(json::view(v->get_string()));
}
std::string name_in(const json::object& schema) { return text_in(schema, "name").value_or(""); }

// Why there is no schema, without what is said before it where a tool is made from its source alone.
error plain_reason(error e) {
  constexpr std::string_view before = "Failed to derive json schema: ";
  if (e.message.starts_with(before)) e.message.erase(0, before.size());
  return e;
}

// The schema of a tool whose arguments are described apart from its source: under the name of the function, unless the
// tool has one already.
awaitable<result<json::object>> schema_of_arguments(call& c, std::string source,
                                                    std::optional<json::object> arguments, std::string name) {
  auto answer = co_await in_sandbox(c, tools::schema_request(source, arguments));
  auto schema = tools::read_schema_answer(answer);
  if (!schema) co_return plain_reason(schema.error());
  if (!name.empty()) (*schema)["name"] = boost::json::string(name);
  if (!text_in(*schema, "description"))
    (*schema)["description"] = boost::json::string("The " + name_in(*schema) + " tool");
  co_return schema;
}

} // namespace

awaitable<result<json::object>> schema_of(call& c, std::string source,
                                          std::optional<json::object> arguments) {
  std::string its_own;
  if (arguments && !arguments->empty())
    co_return co_await schema_of_arguments(c, std::move(source), std::move(arguments), its_own);
  std::optional<json::object> none;
  auto answer = co_await in_sandbox(c, tools::schema_request(source, none));
  co_return tools::read_schema_answer(answer);
}

namespace {

using char_limit = bounded<1, 1'000'000>;
using requirements = std::vector<requirement>;

struct tool_creation {
  std::string source_code;
  std::optional<std::string> description;
  std::optional<std::vector<std::string>> tags;
  std::string source_type = "json"; // as the original stores what names none
  std::optional<json::object> json_schema, args_json_schema;
  char_limit return_char_limit{50'000};
  std::optional<requirements> pip_requirements, npm_requirements;
  std::optional<bool> default_requires_approval, enable_parallel_execution = false;
  static constexpr const char* required[] = {"source_code"};
  static constexpr bool forbid_extra = true;
};
BOOST_DESCRIBE_STRUCT(tool_creation, (),
                      (description, tags, source_code, source_type, json_schema, args_json_schema,
                       return_char_limit, pip_requirements, npm_requirements, default_requires_approval,
                       enable_parallel_execution))

struct tool_change {
  std::optional<std::string> description, source_code, source_type;
  std::optional<std::vector<std::string>> tags;
  std::optional<json::object> json_schema, args_json_schema, metadata__;
  std::optional<char_limit> return_char_limit;
  std::optional<requirements> pip_requirements, npm_requirements;
  std::optional<bool> default_requires_approval;
  std::optional<bool> enable_parallel_execution = false; // what leaves it out turns it off
};
BOOST_DESCRIBE_STRUCT(tool_change, (),
                      (description, tags, source_code, source_type, json_schema, args_json_schema,
                       return_char_limit, pip_requirements, npm_requirements, metadata__,
                       default_requires_approval, enable_parallel_execution))

template <class T> void set(T& to, const std::optional<std::type_identity_t<T>>& from) {
  if (from) to = *from;
}
template <class T> void set(std::optional<T>& to, const std::optional<std::type_identity_t<T>>& from) {
  if (from) to = from;
}

std::optional<json::value> stored(const std::optional<requirements>& r) {
  if (!r) return std::nullopt;
  return json::try_parse(json::to_text(*r));
}

// Tells sources apart: the beginning of a digest, as the original makes it where a tool needs no packages.
std::string hash_of(const tool& t) {
  auto text = t.source_code.value_or("");
  for (auto* needs : {&t.pip_requirements, &t.npm_requirements})
    text += "|" + (*needs ? json::print(**needs) : std::string{});
  unsigned char digest[SHA256_DIGEST_LENGTH];
  ::SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  std::string out;
  for (int i = 0; i < 6; ++i) out += {"0123456789abcdef"[digest[i] >> 4], "0123456789abcdef"[digest[i] & 15]};
  return out;
}

result<tool_creation> creation_of(call& c) {
  auto document = body_document(c);
  if (!document) return document.error();
  auto out = json::read_as<tool_creation>(*document);
  if (!out) return out;
  if (out->json_schema && out->json_schema->empty()) out->json_schema.reset();
  if (out->json_schema) return out;
  if (out->source_type == "typescript") {
    json::reader r("body");
    r.fail_value("TypeScript tools require an explicit json_schema parameter. "
                 "Unlike Python tools, schema cannot be auto-generated from TypeScript source code.",
                 *document);
    return json::to_error(r.errors());
  }
  if (out->source_code.empty())
    return fail(errc::invalid_argument, "Custom tool is missing source_code field.");
  if (out->source_type != "python" && out->source_type != "json")
    return fail(errc::invalid_argument, "Unknown tool source type: " + out->source_type);
  return out;
}

tool new_tool(const call& c, std::string name) {
  tool t;
  t.id = c.s.env->make_id<tool_id>();
  t.name = std::move(name);
  t.created_by_id = c.by.user;
  t.organization_id = c.by.org;
  t.created_at = c.s.env->now();
  t.args_json_schema.emplace();
  t.project_id = c.project();
  return t;
}

void take(tool& t, const tool_creation& made, const json::object& schema) {
  t.description = made.description ? made.description : text_in(schema, "description");
  if (made.tags && !made.tags->empty()) t.tags = *made.tags;
  t.source_code = made.source_code;
  t.source_type = made.source_type;
  t.json_schema = schema;
  set(t.args_json_schema, made.args_json_schema);
  t.return_char_limit = made.return_char_limit.value;
  set(t.pip_requirements, stored(made.pip_requirements));
  set(t.npm_requirements, stored(made.npm_requirements));
  set(t.default_requires_approval, made.default_requires_approval);
  t.enable_parallel_execution = made.enable_parallel_execution;
  t.metadata__["tool_hash"] = boost::json::string(hash_of(t));
}

// What stays of the tool that had the name before: which one it is, and tags where there are no others.
void take_place_of(tool& t, const tool& old) {
  t.id = old.id;
  t.created_at = old.created_at;
  t.created_by_id = old.created_by_id;
  if (t.tags.empty()) t.tags = old.tags;
}

// Both endpoints that make tools put them in the place of the one that has the name already.
awaitable<outcome> create(call& c) {
  auto made = creation_of(c);
  if (!made) co_return made.error();
  auto schema = made->json_schema;
  if (!schema) {
    auto derived = co_await schema_of(c, made->source_code, made->args_json_schema);
    if (!derived) co_return derived.error();
    schema = std::move(*derived);
  }
  auto name = name_in(*schema);
  if (name.empty()) co_return fail(errc::conflict, "The json_schema of a tool needs a name");
  auto store = [fresh = new_tool(c, name), made = std::move(*made), schema = std::move(*schema),
                by = c.by](storage::transaction& t) -> result<std::string> {
    if (tools::is_base_tool(fresh.name))
      return fail(errc::conflict, "The name '" + fresh.name + "' is that of a built-in tool");
    auto row = fresh;
    take(row, made, schema);
    row.last_updated_by_id = by.user;
    row.updated_at = fresh.created_at;
    if (auto old = storage::find_tool_by_name(t, by.org, fresh.name)) take_place_of(row, *old);
    storage::put_tool(t, row);
    return json::to_text(row);
  };
  co_return co_await write(c, "tools.create", std::move(store));
}

// -- changes --------------------------------------------------------------------------------------
result<void> apply(storage::transaction& t, tool& row, const tool_change& change) {
  if (change.json_schema) {
    auto name = name_in(*change.json_schema);
    auto other = storage::find_tool_by_name(t, row.organization_id, name);
    if (other && other->id != row.id)
      return invalid_argument("Tool with name '" + name + "' already exists in your organization");
    if (!name.empty()) row.name = name;
    row.json_schema = change.json_schema;
  }
  set(row.args_json_schema, change.args_json_schema);
  set(row.description, change.description);
  set(row.source_code, change.source_code);
  set(row.source_type, change.source_type);
  set(row.tags, change.tags);
  if (change.return_char_limit) row.return_char_limit = change.return_char_limit->value;
  set(row.pip_requirements, stored(change.pip_requirements));
  set(row.npm_requirements, stored(change.npm_requirements));
  set(row.metadata__, change.metadata__);
  set(row.default_requires_approval, change.default_requires_approval);
  set(row.enable_parallel_execution, change.enable_parallel_execution);
  return {};
}

// New arguments bring a new schema, under the name that the tool has.
awaitable<result<void>> complete(call& c, const tool& row, tool_change& change) {
  if (row.tool_type_ != tool_type::custom || change.json_schema || !change.args_json_schema)
    co_return result<void>{};
  auto source = change.source_code.value_or(row.source_code.value_or(""));
  if (source.empty())
    co_return fail(errc::invalid_argument, "Source code required when updating with args_json_schema");
  auto schema = co_await schema_of_arguments(c, source, change.args_json_schema, row.name);
  if (!schema) co_return schema.error();
  change.json_schema = std::move(*schema);
  co_return result<void>{};
}

// A new source has to have the words that begin the function that the tool is named after.
result<void> check_source(const tool& row, const tool_change& change) {
  if (!change.source_code) return {};
  auto name = change.json_schema ? name_in(*change.json_schema) : std::string{};
  if (name.empty()) name = row.name;
  auto type = change.source_type.value_or(row.source_type.value_or(""));
  auto beginning = (type == "typescript" ? "function " : "def ") + name;
  if (change.source_code->find(beginning) != std::string::npos) return {};
  return fail(errc::invalid_argument, "Tool name '" + name +
                                          "' does not match the name in the JSON schema '" + name +
                                          "' or in the source code `" + *change.source_code + "`");
}

awaitable<outcome> modify(call& c) {
  auto id = path_id<tool_id>(c, "tool_id");
  if (!id) co_return id.error();
  auto change = body_of<tool_change>(c);
  if (!change) co_return change.error();
  auto present = storage::find_tool(*c.s.db->snapshot(), *id, c.by.org);
  if (!present) co_return storage::not_found_for("Tool", id->str(), c.by);
  if (auto done = co_await complete(c, *present, *change); !done) co_return done.error();
  if (auto done = check_source(*present, *change); !done) co_return done.error();
  auto store = [id = *id, change = std::move(*change), by = c.by,
                env = c.s.env](storage::transaction& t) -> result<std::string> {
    auto row = storage::find_tool(t, id, by.org);
    if (!row) return storage::not_found_for("Tool", id.str(), by);
    if (auto done = apply(t, *row, change); !done) return done.error();
    row->last_updated_by_id = by.user;
    row->updated_at = env->now();
    storage::put_tool(t, *row);
    return json::to_text(*row);
  };
  co_return co_await write(c, "tools.modify", std::move(store));
}

awaitable<outcome> remove(call& c) {
  auto id = path_id<tool_id>(c, "tool_id");
  if (!id) co_return id.error();
  auto store = [id = *id, by = c.by](storage::transaction& t) -> result<std::string> {
    auto row = storage::find_tool(t, id, by.org);
    if (!row) return fail(errc::invalid_argument, "Tool with id " + id.str() + " not found.");
    storage::delete_tool(t, *row);
    return "null";
  };
  co_return co_await write(c, "tools.delete", std::move(store));
}

struct search_body {
  std::optional<std::string> query;
  storage::search_mode search_mode = storage::search_mode::hybrid;
  std::optional<std::vector<std::string>> tool_types, tags;
  bounded<1, 100> limit{50};
  static constexpr bool forbid_extra = true;
};
BOOST_DESCRIBE_STRUCT(search_body, (), (query, search_mode, tool_types, tags, limit))

// What the original answers where it has no vector store; here there is no search of tools at all.
awaitable<outcome> search(call& c) {
  if (auto body = body_of<search_body>(c); !body) co_return body.error();
  co_return fail(errc::invalid_argument,
                 "Tool semantic search requires tool embedding to be enabled (embed_tools=True).");
}

// -- schemas --------------------------------------------------------------------------------------
struct code_input {
  std::string code;
  std::optional<std::string> source_type;
  static constexpr const char* required[] = {"code"};
};
BOOST_DESCRIBE_STRUCT(code_input, (), (code, source_type))

awaitable<outcome> generate_schema(call& c) {
  auto body = body_of<code_input>(c);
  if (!body) co_return body.error();
  if (body->source_type == "typescript")
    co_return fail(errc::invalid_argument, "Schemas are derived from Python sources only");
  auto schema = co_await schema_of(c, body->code, std::nullopt);
  if (!schema) co_return plain_reason(schema.error());
  co_return http::response::json(json::print(json::value(std::move(*schema))));
}

} // namespace

void add_tool_changes(router& r) {
  r.add("POST", "/tools/", create);
  r.add("PUT", "/tools/", create);
  r.add("PATCH", "/tools/{tool_id}", modify);
  r.add("DELETE", "/tools/{tool_id}", remove);
  r.add("POST", "/tools/search", search);
  r.add("POST", "/tools/generate-schema", generate_schema);
  r.declare("POST", "/tools/generate-tool"); // which the API's own list of operations does not name
}

} // namespace troupe::net::rest
