// The tables of the store and the bytes of their keys (docs/format.md has the same as prose). A key is the table's
// letter, then fixed-size parts: ids as 16 bytes, numbers as 8 bytes big endian, so that what belongs together is a
// range and time is order.
#pragma once

#include "core/base/id.hpp"
#include "core/base/time.hpp"
#include "core/codec/record.hpp"
#include "storage/kv.hpp"

namespace troupe::storage {

// Letters are never used twice, also not for tables that are gone.
enum class table : char {
  meta = 'M',                   // name -> value
  organizations = 'O',          // org -> organization
  users = 'U',                  // user -> user
  agents = 'A',                 // agent -> agent
  agent_activity = 'a',         // agent -> agent_activity
  agents_by_org = 'B',          // org | created | agent -> -
  agents_by_name = 'N',         // org | name | created | agent -> -
  tags = 'G',                   // org | tag | kind | created | id -> the tag
  blocks = 'K',                 // block -> block
  blocks_by_org = 'k',          // org | created | block -> -
  blocks_by_label = 'L',        // org | label | created | block -> -
  block_agents = 'l',           // block | agent -> -
  tools = 'T',                  // tool -> tool
  tools_by_org = 't',           // org | created | tool -> -
  tools_by_name = 'n',          // org | name -> tool
  tool_agents = 'o',            // tool | agent -> -
  tool_intents = '8',           // run -> what its step is if its tools never return
  messages = 'H',               // agent | sequence -> message
  message_ids = 'h',            // message -> agent | sequence
  messages_by_org = 'J',        // org | sequence -> agent
  contexts = 'X',               // agent or conversation | position -> message | sequence
  runs = 'R',                   // run -> run
  runs_by_org = 'r',            // org | created | run -> -
  runs_by_agent = 'S',          // agent | created | run -> -
  runs_active = 's',            // run -> -
  steps = 'Q',                  // step -> step
  steps_by_org = 'q',           // org | created | step -> -
  traces = 'V',                 // step -> provider_trace
  identities = 'I',             // identity -> identity
  identities_by_org = 'i',      // org | created | identity -> -
  identities_by_key = 'y',      // org | project | identifier key -> identity
  identity_agents = 'g',        // identity | agent -> -
  conversations = 'C',          // conversation -> conversation
  conversations_by_agent = 'c', // agent | created | conversation -> -
  conversations_by_org = 'd',   // org | created | conversation -> -
  conversation_messages = 'e',  // conversation | position -> agent | sequence
  search_words = 'W',           // org | word | first sequence -> postings
  search_state = 'w',           // org -> search_state
  jobs = 'j',                   // job -> job
  jobs_by_org = 'Z',            // org | created | job -> -
  traces_by_age = 'v',          // created | step -> size of the trace
  trace_totals = 'z',           // - -> trace_totals
  pending_turns = 'P',          // run -> turn_order
  callbacks_due = 'b',          // run or job -> which of both
  batch_runs = '9',             // job | run -> -
  requests = 'f',               // org | otid -> run
  requests_by_age = 'F',        // created | run -> -
  sleeptime_jobs = 'D',         // group | companion | context -> sleeptime_job
  sleeptime_due = 'E',          // due | group | companion | context -> -
  sleeptime_runs = 'u',         // run -> group | companion | context
  voice_memories = '7',         // agent | created | number -> voice_memory
  groups = 'Y',                 // group -> group
  groups_by_org = 'x',          // org | created | group -> -
  group_agents = 'm',           // agent | member or manager | created | group -> -
  group_messages = 'p',         // group | sequence -> agent
  group_log = '1',              // group | entry -> group_run::log_entry
  group_cursors = '2',          // group | agent -> how far it has heard
  group_runs = '3'              // run -> group_run::run_state
};

// Builds a key part by part.
class key {
public:
  explicit key(table t) : bytes_(1, static_cast<char>(t)) {}
  template <id_prefix P> key& add(const id<P>& i) {
    bytes_ += i.key();
    return *this;
  }
  key& add(const uuid& u) {
    bytes_ += u.view();
    return *this;
  }
  key& add(std::uint64_t n);
  key& add(timestamp t) { return add(static_cast<std::uint64_t>(t.us)); }
  key& add(char c) {
    bytes_.push_back(c);
    return *this;
  }
  // A text of any length: what an index can hold of it, ended so that no text is a prefix of another.
  key& text(std::string_view s);
  // The same without the end: for prefix scans over texts.
  key& text_prefix(std::string_view s);

  operator std::string_view() const noexcept { return bytes_; }
  const std::string& str() const noexcept { return bytes_; }

private:
  std::string bytes_;
};

// The last parts of a key.
inline uuid last_uuid(std::string_view k) { return uuid::from_bytes(k.substr(k.size() - 16)); }
std::uint64_t number_at(std::string_view k, std::size_t at);
std::string big_endian(std::uint64_t n);

// -- records --------------------------------------------------------------------------------------
template <class T> std::optional<T> load(const reader& r, std::string_view k) {
  auto bytes = r.get(k);
  if (!bytes) return std::nullopt;
  auto record = codec::decode<T>(*bytes);
  if (!record) throw std::runtime_error("damaged record in table " + std::string(1, k[0]));
  return record;
}

// The record, where it is the organization's.
template <class T> std::optional<T> of_org(std::optional<T> record, const org_id& org) {
  if (record && record->organization_id != org) record.reset();
  return record;
}

template <class T> void save(transaction& t, std::string_view k, const T& record) {
  t.put(k, codec::encode(record));
}

} // namespace troupe::storage
