// Entities: every member goes into a record and comes out again; the API's forms have the original's members in its
// order.
#define CAF_SUITE entities
#include "core/codec/record.hpp"
#include "core/schema/agent.hpp"
#include "core/schema/conversation.hpp"
#include "core/schema/message_request.hpp"
#include "core/schema/run.hpp"
#include "core/schema/trace.hpp"
#include "tests/unit/support.hpp"

#include <caf/test/unit_test.hpp>

#include <limits>

using namespace troupe;
using namespace troupe::test;

namespace {

// Gives every member, however deep, a value of its own that is not its default.
class filler {
public:
  template <class T> T made() {
    T out{};
    fill(out);
    return out;
  }

private:
  void fill(bool& v) { v = !v; }
  void fill(std::int64_t& v) { v = -1000 - ++n_; }
  void fill(std::uint64_t& v) { v = 1000 + static_cast<std::uint64_t>(++n_); }
  void fill(double& v) { v = 0.5 + static_cast<double>(++n_); }
  void fill(std::string& v) { v = "é" + std::to_string(++n_); }
  void fill(timestamp& v) { v.us = 1'000'000 + ++n_; }
  void fill(naive_timestamp& v) { v.us = 1'000'000 + ++n_; }
  void fill(json::object& v) { v["k"] = ++n_; }
  void fill(json::value& v) { v = ++n_; }
  template <id_prefix P> void fill(id<P>& v) { v = nth<id<P>>(static_cast<std::uint64_t>(++n_)); }
  template <json::described_enum E> void fill(E& v) { v = static_cast<E>(1); }
  template <class T> void fill(std::optional<T>& v) { fill(v.emplace()); }
  template <class T> void fill(std::vector<T>& v) {
    v.resize(2);
    fill(v[0]);
    fill(v[1]);
  }
  template <class T> void fill(json::dictionary<T>& v) {
    v.emplace_back("key", T{});
    fill(v.back().second);
  }
  template <class T> void fill(json::maybe<T>& v) {
    v.present = true;
    fill(v.value.emplace());
  }
  template <class... Ts> void fill(std::variant<Ts...>& v) { fill(v.template emplace<sizeof...(Ts) - 1>()); }
  template <json::described_struct T> void fill(T& v) {
    json::for_each_member<T>([&](auto d) { fill(v.*d.pointer); });
  }
  std::int64_t n_ = 0;
};

template <class T> void check_record() {
  auto record = filler().made<T>();
  auto bytes = codec::encode(record);
  auto back = codec::decode<T>(bytes);
  CAF_REQUIRE(back.has_value());
  CAF_CHECK(codec::encode(*back) == bytes);
  CAF_CHECK(bytes != codec::encode(T{}));
  // No shorter text is a whole record of these members, and none is read beyond its end.
  std::size_t accepted = 0;
  for (std::size_t n = 0; n < bytes.size(); ++n)
    accepted += codec::decode<T>(std::string_view(bytes).substr(0, n)).has_value();
  CAF_CHECK_EQUAL(accepted, 0u);
}

// Written, read and written again: the same text.
template <class T> void check_json() {
  auto text = json::to_text(filler().made<T>());
  CAF_CHECK_EQUAL(json::to_text(made<T>(text)), text);
  json::for_each_member<T>([&](auto d) {
    CAF_CHECK(text.find("\"" + std::string(json::json_name(d.name)) + "\":") != std::string::npos);
  });
}

std::string members_of(std::string_view text) {
  std::string out;
  for (auto& [key, v] : object(text)) out.append(out.empty() ? "" : ",").append(key.data(), key.size());
  return out;
}

} // namespace

CAF_TEST(records) {
  check_record<agent>();
  check_record<agent_activity>();
  check_record<block>();
  check_record<conversation>();
  check_record<identity>();
  check_record<message>();
  check_record<organization>();
  check_record<provider_trace>();
  check_record<run>();
  check_record<send_request>();
  check_record<step>();
  check_record<tool>();
  check_record<user>();
}

CAF_TEST(every kind of content is kept) {
  std::vector<content_part> all{text_content{"t", "s"},
                                image_content{"letta", "u", nth<file_id>(1), "m", "d", "low"},
                                reasoning_content{true, "r", "s"},
                                redacted_reasoning_content{"x"},
                                omitted_reasoning_content{"o"},
                                summarized_reasoning_content{"i", {{1, "p"}}, "e"},
                                other_content{object(R"({"type":"tool_call"})")}};
  auto m = make_message(message_role::assistant);
  m.content = all;
  auto back = codec::decode<message>(codec::encode(m));
  CAF_REQUIRE(back.has_value());
  std::string before, after;
  for (auto& p : m.content) write_content_part(before, p);
  for (auto& p : back->content) write_content_part(after, p);
  CAF_CHECK_EQUAL(after, before);
}

CAF_TEST(records grow at their end) {
  // What an older version wrote: a struct of fewer members. What a newer one wrote: more bytes than are known.
  auto bytes = codec::encode(organization{nth<org_id>(1), "name", {}, true});
  std::string body = bytes.substr(1), older = body.substr(0, body.size() - 1), newer = body + "more";
  auto record = [](const std::string& b) {
    return codec::decode<organization>(static_cast<char>(b.size()) + b);
  };
  auto of_older = record(older), of_newer = record(newer);
  CAF_REQUIRE(of_older && of_newer);
  CAF_CHECK_EQUAL(of_older->name, "name");
  CAF_CHECK(!of_older->privileged_tools); // the default
  CAF_CHECK(of_newer->privileged_tools);
}

CAF_TEST(rare members are stored as optional ones) {
  std::optional<std::string> there = "value", missing;
  for (auto& v : {there, missing}) {
    std::string as_optional, as_rare;
    codec::put(as_optional, v);
    codec::put(as_rare, rare<std::string>(v));
    CAF_CHECK(as_rare == as_optional);
    codec::cursor c(as_rare);
    rare<std::string> back(std::string("something else"));
    CAF_REQUIRE(codec::get(c, back));
    CAF_CHECK(back.has_value() == v.has_value() && (!v || *back == *v));
    auto copy = back;
    if (copy) *copy += "s";
    CAF_CHECK(!v || (*back == *v && *copy == *v + "s"));
  }
}

CAF_TEST(lengths of more than one byte) {
  organization o{nth<org_id>(1), std::string(100'000, 'x'), {}, true};
  auto back = codec::decode<organization>(codec::encode(o));
  CAF_CHECK(back && back->name == o.name && back->privileged_tools);
  for (std::int64_t n :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{63}, std::int64_t{64}, std::int64_t{-65},
        std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    std::string out;
    codec::put_zigzag(out, n);
    codec::cursor c(out);
    std::int64_t read = 0;
    CAF_CHECK(codec::get_zigzag(c, read) && read == n && c.empty());
  }
}

CAF_TEST(forms that are read as they are written) {
  check_json<embedding_config>();
  check_json<llm_config>();
  check_json<create_block>();
  check_json<client_tool>();
  check_json<client_skill>();
}

CAF_TEST(members of the answers as recorded) {
  filler f;
  auto activity = f.made<agent_activity>();
  auto record = f.made<agent>();
  std::string out;
  write_agent_state(out, agent_view{record,
                                    activity,
                                    {nth<message_id>(1)},
                                    {f.made<block>()},
                                    {f.made<tool>()},
                                    {f.made<identity>()},
                                    "null",
                                    "null",
                                    agent_relations::all()});
  CAF_CHECK_EQUAL(
      members_of(out),
      "created_by_id,last_updated_by_id,created_at,updated_at,id,name,tool_rules,message_ids,system,agent_"
      "type,llm_config,embedding_config,model,embedding,model_settings,compaction_settings,response_format,"
      "description,metadata,memory,blocks,tools,sources,tags,"
      "tool_exec_environment_variables,secrets,project_id,template_id,base_template_id,deployment_id,entity_"
      "id,identity_ids,identities,pending_approval,message_buffer_autoclear,enable_sleeptime,multi_agent_"
      "group,managed_group,last_run_completion,"
      "last_run_duration_ms,last_stop_reason,timezone,max_files_open,per_file_view_window_char_limit,hidden");
  CAF_CHECK_EQUAL(members_of(json::to_text(record.llm)),
                  "model,display_name,model_endpoint_type,model_endpoint,provider_name,provider_category,"
                  "model_wrapper,context_window,put_inner_thoughts_in_kwargs,handle,temperature,max_tokens,"
                  "enable_reasoner,reasoning_effort,max_reasoning_tokens,effort,frequency_penalty,"
                  "compatibility_type,verbosity,tier,parallel_tool_calls,response_format,strict,return_"
                  "logprobs,top_logprobs,return_token_ids,tool_call_parser");
  CAF_CHECK_EQUAL(
      members_of(json::to_text(record.compaction)),
      "model,model_settings,prompt,prompt_acknowledgement,clip_chars,mode,sliding_window_percentage");
  CAF_CHECK_EQUAL(members_of(json::to_text(f.made<tool>())),
                  "id,tool_type,description,source_type,name,tags,source_code,json_schema,args_json_schema,"
                  "return_char_limit,pip_requirements,npm_requirements,default_requires_approval,enable_"
                  "parallel_execution,created_by_id,last_updated_by_id,metadata_,project_id");
  auto text = [](auto write, const auto& x, auto... more) {
    std::string s;
    write(s, x, more...);
    return s;
  };
  CAF_CHECK_EQUAL(members_of(text(block::write_api, f.made<block>(), true)),
                  "value,limit,project_id,template_name,is_template,template_id,base_template_id,deployment_"
                  "id,entity_id,preserve_on_migration,label,read_only,description,metadata,hidden,id,created_"
                  "by_id,last_updated_by_id,tags");
  CAF_CHECK_EQUAL(members_of(text(run::write_api, f.made<run>(), false)),
                  "id,status,created_at,completed_at,agent_id,conversation_id,base_template_id,background,"
                  "metadata,request_config,stop_reason,callback_url,callback_sent_at,callback_status_code,"
                  "callback_error,ttft_ns,total_duration_ns");
  CAF_CHECK_EQUAL(members_of(text(run::write_metrics, f.made<run>())),
                  "id,organization_id,agent_id,project_id,run_start_ns,run_ns,num_steps,tools_used,template_"
                  "id,base_template_id");
  CAF_CHECK_EQUAL(
      members_of(json::to_text(f.made<step>())),
      "id,origin,organization_id,provider_id,run_id,agent_id,provider_name,provider_category,model,model_"
      "handle,model_endpoint,context_window_limit,completion_tokens,prompt_tokens,total_tokens,cached_input_"
      "tokens,cache_write_tokens,reasoning_tokens,completion_tokens_details,"
      "prompt_tokens_details,stop_reason,tags,tid,trace_id,request_id,messages,feedback,project_id,error_"
      "type,error_data,status");
  CAF_CHECK_EQUAL(members_of(text(step::write_metrics, f.made<step>())),
                  "id,organization_id,provider_id,run_id,agent_id,step_start_ns,llm_request_start_ns,llm_"
                  "request_ns,tool_execution_ns,step_ns,base_template_id,template_id,project_id");
  CAF_CHECK_EQUAL(members_of(text(write_conversation, f.made<conversation>(), std::vector<message_id>{})),
                  "created_by_id,last_updated_by_id,created_at,updated_at,id,agent_id,summary,in_context_"
                  "message_ids,isolated_block_ids,model,model_settings,last_message_at");
  CAF_CHECK_EQUAL(members_of(json::to_text(f.made<message>())),
                  "created_by_id,last_updated_by_id,created_at,updated_at,id,agent_id,model,role,content,"
                  "name,tool_calls,tool_call_id,step_id,run_id,otid,tool_returns,group_id,sender_id,batch_"
                  "item_id,conversation_id,is_err,approval_request_id,approve,denial_reason,approvals");
}

CAF_TEST(relations show where they are asked for) {
  filler f;
  auto activity = f.made<agent_activity>();
  auto record = f.made<agent>();
  std::string out;
  write_agent_state(out, agent_view{record,
                                    activity,
                                    {},
                                    {f.made<block>()},
                                    {f.made<tool>()},
                                    {f.made<identity>()},
                                    "{\"x\":1}",
                                    "null",
                                    {}});
  auto state = parsed(out);
  for (auto* empty : {"blocks", "tools", "tags", "secrets", "tool_exec_environment_variables", "identities",
                      "identity_ids", "sources"})
    CAF_CHECK_EQUAL(json::print(*json::find(state, empty)), "[]");
  CAF_CHECK(json::find(state, "pending_approval")->is_null());
  CAF_CHECK_EQUAL(json::print(*json::find(*json::find(state, "memory"), "blocks")), "[]");
  CAF_CHECK_EQUAL(json::print(*json::find(state, "message_ids")), "[]");
}

CAF_TEST(settings of models are filled with the defaults of their provider) {
  auto settings = [](std::string_view text) { return json::to_text(made<model_settings>(text)); };
  CAF_CHECK_EQUAL(
      settings("{}"),
      R"({"max_output_tokens":4096,"parallel_tool_calls":true,"provider_type":"openai","temperature":0.7,"reasoning":{"reasoning_effort":"high"},"response_format":null,"strict":true})");
  CAF_CHECK_EQUAL(
      settings(R"({"provider_type":"anthropic","thinking":{"type":"disabled"},"temperature":1,"unknown":2})"),
      R"({"max_output_tokens":4096,"parallel_tool_calls":true,"provider_type":"anthropic","temperature":1.0,"thinking":{"type":"disabled","budget_tokens":1024},"response_format":null,"verbosity":null,"effort":null,"strict":false})");
  CAF_CHECK_EQUAL(
      settings(R"({"provider_type":"google_ai"})"),
      R"({"max_output_tokens":65536,"parallel_tool_calls":true,"provider_type":"google_ai","temperature":0.7,"thinking_config":{"include_thoughts":true,"thinking_budget":1024},"response_schema":null})");
  // max_output_tokens reaches the configuration only where it was given.
  llm_config c;
  apply_settings(
      c,
      made<model_settings>(
          R"({"provider_type":"anthropic","thinking":{"type":"enabled","budget_tokens":99},"parallel_tool_calls":false})"));
  CAF_CHECK(!c.max_tokens && c.enable_reasoner && c.max_reasoning_tokens == 99 &&
            c.parallel_tool_calls == false);
  apply_settings(
      c,
      made<model_settings>(
          R"({"max_output_tokens":7,"reasoning":{"reasoning_effort":"low"},"response_format":{"type":"json_object"}})"));
  CAF_CHECK(c.max_tokens == 7 && c.reasoning_effort == "low" && c.strict && c.parallel_tool_calls == true &&
            c.response_format);
}
