// Search over messages: words in any script, rankings, and the index that is made from the history step by step.
#define CAF_SUITE search
#include "core/search/words.hpp"
#include "storage/lmdb_store.hpp"
#include "storage/message_search.hpp"
#include "tests/unit/support.hpp"

#include <caf/test/unit_test.hpp>

#include <unistd.h>

using namespace troupe;
using namespace troupe::storage;
using search::words_of;
namespace fs = std::filesystem;
using strings = std::vector<std::string>;

namespace {

struct fixture {
  fs::path directory = fs::temp_directory_path() / ("troupe-search-" + std::to_string(::getpid()));
  org_id org = test::nth<org_id>(1);
  std::unique_ptr<database> db;
  std::uint64_t made = 0;

  fixture() {
    lmdb_options options;
    options.directory = directory;
    options.map_size = std::size_t{1} << 28;
    options.durable = false;
    db = std::move(*open_lmdb(options));
  }
  ~fixture() {
    db.reset();
    fs::remove_all(directory);
  }

  void commit(std::function<void(transaction&)> f) {
    auto apply = [&](transaction& t) -> result<void> { return f(t), result<void>{}; };
    CAF_REQUIRE(db->commit({batch{"test", apply}}).front());
  }

  void say(const strings& texts, std::uint64_t agent = 1) {
    std::vector<stored_message> all;
    for (auto& text : texts) {
      auto m = test::make_message(message_role::user, text);
      m.id = test::nth<message_id>(++made);
      m.agent = test::nth<agent_id>(agent);
      m.organization_id = org;
      all.push_back(std::make_shared<const message>(std::move(m)));
    }
    commit([&](transaction& t) { append_messages(t, all, nullptr); });
  }

  // Brings the index up to date; gives how many steps that took.
  int advance() {
    for (int steps = 0;; ++steps) {
      auto step = next_index_step(*db->snapshot(), org);
      if (!step) return steps;
      commit([&](transaction& t) { CAF_REQUIRE(store_index_step(t, org, *step)); });
    }
  }

  std::vector<message_hit> hits(std::string text, search_mode mode = search_mode::fts) const {
    message_query q;
    q.text = std::move(text);
    q.mode = mode;
    return search_messages(*db->snapshot(), org, q);
  }
  strings find(std::string text, search_mode mode = search_mode::fts) const {
    strings out;
    for (auto& hit : hits(std::move(text), mode)) out.push_back(hit.text);
    return out;
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(search_tests, fixture)

CAF_TEST(words are small letters and digits of whatever script) {
  CAF_CHECK_EQUAL(words_of("The quick-brown FOX, aged 3!"),
                  (strings{"the", "quick", "brown", "fox", "aged", "3"}));
  CAF_CHECK_EQUAL(words_of("Élan ŻÓŁW Ωmega МИР"), (strings{"élan", "żółw", "ωmega", "мир"}));
  CAF_CHECK_EQUAL(words_of("東京 a"), (strings{"東", "京", "a"}));
  CAF_CHECK_EQUAL(words_of("“quoted” – 😀"), strings{"quoted"});
  CAF_CHECK_EQUAL(words_of(std::string(1000, 'x')), strings{std::string(64, 'x')});
  CAF_CHECK(words_of("").empty());
}

CAF_TEST(likeness goes from nothing to the same) {
  CAF_CHECK_EQUAL(search::likeness("turtle", "turtle"), 1.0);
  CAF_CHECK(search::likeness("turtle", "turtles") > 0.7);
  CAF_CHECK(search::likeness("turtle", "turbine") < 0.5);
  CAF_CHECK_EQUAL(search::likeness("turtle", "fox"), 0.0);
}

CAF_TEST(rare words count more than frequent ones and short messages more than long ones) {
  say({"the cat and the dog and the bird sat together", "the turtle", "the cat",
       "the turtle met many other animals that day"});
  CAF_CHECK_EQUAL(find("turtle"), (strings{"the turtle", "the turtle met many other animals that day"}));
  auto both = find("the turtle");
  CAF_CHECK_EQUAL(both.at(0), "the turtle");
  CAF_CHECK(find("whale").empty());
}

CAF_TEST(likeness finds relatives of words and exact search does not ) {
  say({"two turtles", "a turbine", "one turtle"});
  CAF_CHECK_EQUAL(find("turtle"), strings{"one turtle"});
  CAF_CHECK_EQUAL(find("turtle", search_mode::vector), (strings{"one turtle", "two turtles"}));
  auto both = hits("turtle", search_mode::hybrid);
  CAF_REQUIRE_EQUAL(both.size(), 2u);
  CAF_CHECK_EQUAL(*both[0].fts_rank, 1u);
  CAF_CHECK_EQUAL(*both[0].vector_rank, 1u);
  CAF_CHECK(!both[1].fts_rank);
  CAF_CHECK_EQUAL(*both[1].vector_rank, 2u);
  CAF_CHECK(std::abs(both[0].score - 1.0 / 61) < 1e-12);
}

CAF_TEST(without words the newest come first) {
  say({"first", "second", "third"});
  CAF_CHECK_EQUAL(find(""), (strings{"third", "second", "first"}));
  CAF_CHECK_EQUAL(find(" ?! "), (strings{"third", "second", "first"}));
}

CAF_TEST(heartbeats and logins are not found) {
  say({R"({"type":"heartbeat","reason":"go on with the turtle"})",
       R"({"type":"user_message","message":"my turtle"})", R"({"turtle":1})"});
  CAF_CHECK_EQUAL(find("turtle"), (strings{R"({"turtle":1})", "my turtle"}));
}

CAF_TEST(the index answers as the messages themselves do) {
  strings many;
  for (int i = 0; i < 4'500; ++i)
    many.push_back("message number" + std::to_string(i) +
                   (i % 1000 == 7 ? " about turtles" : " about foxes"));
  say(many);
  auto before = find("turtles");
  CAF_CHECK_EQUAL(before.size(), 5u);
  CAF_CHECK_EQUAL(advance(), 2);
  CAF_CHECK_EQUAL(find("turtles"), before);
  CAF_CHECK_EQUAL(find("number4499"), strings{many.back()});
  say({"the very last about turtles"}); // behind the index
  CAF_CHECK_EQUAL(find("turtles").size(), 6u);
  CAF_CHECK_EQUAL(advance(), 0);
}

CAF_TEST(a step of the index counts only once) {
  say(strings(1'500, "the same words"));
  auto step = next_index_step(*db->snapshot(), org);
  CAF_REQUIRE(step);
  commit([&](transaction& t) { CAF_CHECK(store_index_step(t, org, *step)); });
  commit([&](transaction& t) { CAF_CHECK(!store_index_step(t, org, *step)); });
}

CAF_TEST(what was deleted is not found and leaves the index) {
  say(strings(1'500, "gone soon"), 1);
  say({"stays"}, 2);
  advance();
  commit([&](transaction& t) { erase_history(t, test::nth<agent_id>(1), org); });
  CAF_CHECK(find("gone").empty());
  CAF_CHECK_EQUAL(find("stays"), strings{"stays"});
  CAF_CHECK_EQUAL(advance(), 1);
  CAF_CHECK_EQUAL(db->snapshot()->count_prefix(key(table::search_words).add(org)), 1u);
  CAF_CHECK_EQUAL(find("stays"), strings{"stays"});
}

CAF_TEST_FIXTURE_SCOPE_END()
