// The one writer: groups, acknowledgements, and a disk that is full or broken.
#define CAF_SUITE writer
#include "storage/traces.hpp"
#include "tests/actors/fixture.hpp"

using namespace troupe;
using namespace troupe::test;
using storage::transaction;

namespace {

struct fixture : house {
  agent_id ada =
      make_agent({.tools = {"core_memory_append"}, .gated = {}, .human = "", .parallel_tool_calls = true});

  answer_ptr<actors::done> put(std::string key) {
    return write([=](transaction& t) -> result<void> {
      t.put("test " + key, "value");
      return {};
    });
  }
  answer_ptr<actors::done> put_later(std::string key) {
    auto apply = [=](transaction& t) -> result<void> {
      t.put("test " + key, "value");
      return {};
    };
    return ask<actors::done>(store,
                             actors::write{"test.later", std::move(apply), actors::write::when::later});
  }
  void write_the_rest() {
    auto nothing = [](transaction&) { return result<void>{}; };
    ask<actors::done>(store, actors::write{"test.rest", nothing, actors::write::when::with_rest});
    settle();
  }
  bool stored(const std::string& key) const { return snapshot()->get("test " + key).has_value(); }
  void check_turn() {
    auto before = history(ada).size();
    auto turn = send(ada, "and now?");
    settle();
    say("all well");
    CAF_CHECK(turn.reply->value.has_value());
    CAF_CHECK_EQUAL(history(ada).size(), before + 2);
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(writer_tests, fixture)

CAF_TEST(batches that wait together are one commit) {
  int commits = 0;
  faults::set_handler([&](std::string_view at) {
    commits += at == "store.commit";
    return faults::kind::none;
  });
  std::vector<answer_ptr<actors::done>> all;
  for (int i = 0; i < 20; ++i) all.push_back(put(std::to_string(i)));
  settle();
  faults::set_handler(nullptr);
  for (auto& a : all) CAF_CHECK(a->value.has_value());
  CAF_CHECK_EQUAL(commits, 1);
}

CAF_TEST(an acknowledgement comes after the commit) {
  auto a = put("a"), b = put("b");
  while (a->open() || b->open()) {
    CAF_REQUIRE(run_one_of(0));
    CAF_CHECK(a->open() || stored("a"));
    CAF_CHECK(b->open() || stored("b"));
  }
}

CAF_TEST(a batch that fails leaves no trace and its neighbours are stored) {
  auto before = put("before");
  auto refused = write([](transaction& t) -> result<void> {
    t.put("test refused", "value");
    t.next_sequence();
    return fail(errc::conflict, "no");
  });
  auto thrown = write([](transaction& t) -> result<void> {
    t.put("test thrown", "value");
    throw std::runtime_error("broken");
  });
  auto after = write([](transaction& t) -> result<void> {
    if (t.get("test refused") || t.get("test thrown")) return fail(errc::internal, "a trace");
    t.put("test after", "value");
    return {};
  });
  settle();
  CAF_CHECK(before->value.has_value());
  CAF_CHECK(refused->code() == errc::conflict);
  CAF_CHECK(thrown->code() == errc::internal);
  CAF_CHECK(after->value.has_value());
  CAF_CHECK(stored("before") && stored("after"));
  CAF_CHECK(!stored("refused") && !stored("thrown"));
}

CAF_TEST(what can wait holds nobody up and is stored after a while) {
  auto waits = put_later("waits"), after = put("after");
  settle();
  CAF_CHECK(stored("after") && after->value);
  CAF_CHECK(!stored("waits") && waits->open());
  pass(actors::longest_wait);
  CAF_CHECK(stored("waits") && waits->value);
}

CAF_TEST(what is done in the background rides with what somebody waits for) {
  auto front = std::make_shared<actors::foreground>();
  auto patient = sys.spawn(actors::store_writer, db, actors::company{3ms, 5, front});
  auto put_at = [&](std::string key, actors::write::when due) {
    auto apply = [=](transaction& t) -> result<void> {
      t.put("test " + key, "value");
      return {};
    };
    return ask<actors::done>(patient, actors::write{"test." + key, std::move(apply), due});
  };
  auto behind = put_at("behind", actors::write::when::beside);
  settle();
  CAF_CHECK(!stored("behind") && behind->open());
  int commits = 0;
  faults::set_handler([&](std::string_view at) {
    commits += at == "store.commit";
    return faults::kind::none;
  });
  put_at("in front", actors::write::when::now);
  settle();
  faults::set_handler(nullptr);
  CAF_CHECK(stored("behind") && stored("in front") && behind->value);
  CAF_CHECK_EQUAL(commits, 1);
  auto alone = put_at("alone", actors::write::when::beside);
  pass(3ms);
  CAF_CHECK(stored("alone") && alone->value);
  // While somebody's turn is under way it waits longer, but not for ever.
  auto turn = front->enter();
  put_at("patient", actors::write::when::beside);
  for (int i = 0; i < 4; ++i) pass(3ms);
  CAF_CHECK(!stored("patient"));
  pass(3ms);
  CAF_CHECK(stored("patient"));
  put_at("freed", actors::write::when::beside);
  pass(3ms);
  turn.reset();
  pass(3ms);
  CAF_CHECK(stored("freed"));
  caf::anon_send_exit(patient, caf::exit_reason::user_shutdown);
  settle();
}

CAF_TEST(what can wait is stored when there is much of it or it is asked for or the writer ends) {
  for (std::size_t i = 0; i + 1 < actors::max_later; ++i) put_later(std::to_string(i));
  settle();
  CAF_CHECK(!stored("0"));
  put_later("last");
  settle();
  CAF_CHECK(stored("0") && stored("last"));
  put_later("wanted");
  write_the_rest();
  CAF_CHECK(stored("wanted"));
  put_later("at the end");
  settle();
  caf::anon_send_exit(store, caf::exit_reason::user_shutdown);
  settle();
  CAF_CHECK(stored("at the end"));
}

CAF_TEST(the traces of a turn are stored after it and go with their agent) {
  auto trace_of = [&](const sent_turn& t) {
    auto r = snapshot();
    return storage::find_trace(*r, row(t.id).steps.front(), acting().org);
  };
  auto turn = send(ada, "hello");
  settle();
  say("hi");
  CAF_CHECK(turn.reply->value && !trace_of(turn));
  write_the_rest();
  CAF_REQUIRE(trace_of(turn));
  CAF_CHECK_EQUAL(trace_of(turn)->run->str(), turn.id.str());
  auto late = send(ada, "hello again");
  settle();
  say("hi");
  auto step = row(late.id).steps.front();
  CAF_CHECK(commit([&](transaction& t) -> result<void> {
    storage::erase_run(t, *storage::find_run(t, late.id));
    return {};
  }));
  write_the_rest();
  CAF_CHECK(!storage::find_trace(*snapshot(), step, acting().org));
}

CAF_TEST(a full disk refuses turns and edits and reading goes on) {
  check_turn();
  auto known = history(ada);
  {
    armed_fault full("store.commit", faults::kind::disk_full);
    for (auto how : {mode::blocking, mode::stream, mode::background, mode::async}) {
      auto turn = send(ada, "hello", how);
      settle();
      CAF_CHECK(turn.code() == errc::storage_full);
      CAF_CHECK(!storage::find_run(*snapshot(), turn.id));
      CAF_CHECK_EQUAL(desk->count(turn.id), 0u);
    }
    auto change = edit(ada, [](transaction& t) -> result<void> {
      t.put("test edit", "value");
      return {};
    });
    auto read = query(
        [&](const storage::reader& r) -> result<std::string> { return storage::find_agent(r, ada)->name; });
    settle();
    CAF_CHECK(change->code() == errc::storage_full);
    CAF_CHECK(!stored("edit"));
    CAF_CHECK(read->value.has_value());
    CAF_CHECK_EQUAL(history(ada), known);
  }
  check_turn();
}

CAF_TEST(a queue behind a full disk empties) {
  armed_fault full("store.put", faults::kind::disk_full);
  std::vector<sent_turn> turns;
  for (int i = 0; i < 10; ++i) turns.push_back(send(ada, "hello"));
  settle();
  for (auto& t : turns) CAF_CHECK(t.code() == errc::storage_full);
  CAF_CHECK(storage::active_runs(*snapshot()).empty());
}

CAF_TEST(a disk that is full in the middle of a turn fails the turn and its run ends when there is space) {
  auto turn = send(ada, "remember this");
  settle();
  say(call_reply({append_call("call-1", "likes tea")}));
  {
    armed_fault full("store.commit", faults::kind::disk_full);
    say(call_reply({append_call("call-2", "likes cake")}));
    CAF_CHECK(turn.code() == errc::storage_full);
    CAF_CHECK(!is_terminal(row(turn.id).status));
    pass(10s);
    CAF_CHECK(!is_terminal(row(turn.id).status));
  }
  pass(2s);
  auto r = row(turn.id);
  CAF_CHECK(r.status == run_status::failed);
  CAF_CHECK(r.metadata.contains("error"));
  CAF_CHECK(block_value(ada).find("likes tea") != std::string::npos);
  CAF_CHECK(block_value(ada).find("likes cake") == std::string::npos);
  CAF_CHECK_EQUAL(history(ada).size(), 3u);
  check_turn();
}

CAF_TEST(a queued turn that is cancelled while the disk is full ends when there is space) {
  send(ada, "one");
  auto blocking = send(ada, "two"), stream = send(ada, "three", mode::stream);
  settle();
  auto reader = attach(stream.id);
  std::vector<answer_ptr<bool>> cancels;
  {
    armed_fault full("store.commit", faults::kind::disk_full);
    for (auto* turn : {&blocking, &stream}) cancels.push_back(cancel(*turn));
    settle();
    CAF_CHECK(blocking.code() == errc::storage_full);
    read(*reader);
    CAF_CHECK(reader->ended);
    for (auto& c : cancels) CAF_CHECK(!c->open());
    pass(3s);
  }
  pass(2s);
  CAF_CHECK(row(blocking.id).status == run_status::cancelled);
  CAF_CHECK(row(stream.id).status == run_status::cancelled);
}

CAF_TEST(a stream whose step cannot be stored says so) {
  auto turn = send(ada, "hello", mode::stream);
  settle();
  auto reader = attach(turn.id);
  {
    armed_fault full("store.commit", faults::kind::disk_full);
    say("hi");
  }
  CAF_CHECK_EQUAL(kinds(*reader), (lines{"stop_reason", "error_message", "data: [DONE]\n\n"}));
  CAF_CHECK(reader->ended);
  pass(2s);
  CAF_CHECK(row(turn.id).status == run_status::failed);
}

CAF_TEST(a broken disk is unavailable and not full) {
  {
    armed_fault broken("store.commit", faults::kind::io_error, 1, false);
    auto turn = send(ada, "hello");
    settle();
    CAF_CHECK(turn.code() == errc::unavailable);
  }
  check_turn();
}

CAF_TEST(one commit that fails is not the end of the writer) {
  armed_fault full("store.commit", faults::kind::disk_full, 1, false);
  auto lost = put("lost");
  settle();
  auto kept = put("kept");
  settle();
  CAF_CHECK(lost->code() == errc::storage_full);
  CAF_CHECK(kept->value.has_value());
  CAF_CHECK(!stored("lost") && stored("kept"));
}

CAF_TEST(what was acknowledged is there after a crash and what was not is whole or absent) {
  auto turn = send(ada, "remember this");
  settle();
  say(call_reply({append_call("call-1", "likes tea")}));
  auto seen = history(ada);
  answer_model(0, call_reply({append_call("call-2", "likes cake")}));
  hold(store);
  settle();
  crash();
  CAF_CHECK(turn.open()); // its client is gone as well
  CAF_CHECK_EQUAL(history(ada), seen);
  CAF_CHECK(row(turn.id).status == run_status::failed);
  CAF_CHECK(storage::active_runs(*snapshot()).empty());
  check_turn();
}

CAF_TEST_FIXTURE_SCOPE_END()
