// Search over the messages of an organisation. An inverted index of their words is made from the history a batch of
// messages at a time, when somebody searches: sending costs nothing, and what the index lacks is read as it is. It is
// derived from the messages and can be made anew at any time.
#pragma once

#include "core/search/ranking.hpp"
#include "storage/messages.hpp"

namespace troupe::storage {

// vector: by likeness of words (their beginnings and letters), as long as there are no embeddings of messages.
enum class search_mode { vector, fts, hybrid };
BOOST_DESCRIBE_ENUM(search_mode, vector, fts, hybrid)

struct message_query {
  std::string text; // without any word: the newest messages
  search_mode mode = search_mode::hybrid;
  std::size_t limit = 50;
  std::optional<agent_id> agent;
  std::function<bool(const message&)> wanted; // what else a message must be
};

struct message_hit {
  stored_message found;
  std::string text; // that was searched
  std::optional<std::size_t> fts_rank, vector_rank;
  double score = 0;
};
// Best first.
std::vector<message_hit> search_messages(const reader& r, const org_id& org, const message_query& q);

// -- the index ------------------------------------------------------------------------------------
// How far the index of an organisation is.
struct search_state {
  std::uint64_t indexed = 0;  // sequence of the last message that was looked at
  std::uint64_t messages = 0; // with words in them
  std::uint64_t words = 0;
  std::uint64_t gone = 0; // deleted since
};
BOOST_DESCRIBE_STRUCT(search_state, (), (indexed, messages, words, gone))

// The next step of the index: made from a snapshot on any thread, stored by a batch.
struct index_step {
  search_state before, after;
  bool anew = false; // too much of it was deleted: it begins again
  std::vector<std::pair<std::string, std::string>> rows;
};
// Nothing where the index lacks so little that it is read as it is.
std::optional<index_step> next_index_step(const reader& r, const org_id& org);
// Errors: conflict, where somebody else was quicker.
result<void> store_index_step(transaction& t, const org_id& org, const index_step& step);

// Messages were deleted.
void note_gone(transaction& t, const org_id& org, std::uint64_t messages);

} // namespace troupe::storage

namespace troupe::json {
template <> inline constexpr bool is_literal<storage::search_mode> = true;
}
