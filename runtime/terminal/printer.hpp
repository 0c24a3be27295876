// A turn's events in the terminal: thoughts in brackets, calls by name, the answer plain; in a group, who speaks.
#pragma once

#include "core/json/value.hpp"

#include <iosfwd>
#include <map>
#include <string>

namespace troupe::runtime {

// What agents are called, by id.
using agent_names = std::map<std::string, std::string>;

class printer {
public:
  explicit printer(std::ostream& out, agent_names known = {}) : out_(out), known_(std::move(known)) {}

  void event(std::string_view data);
  void end() { leave(); }
  const std::string& run() const { return run_; } // of the turn; empty until an event tells

private:
  enum mode { none, answer, thought };

  void text(mode m, const json::value& e, std::string_view piece);
  void called(const json::value& e);
  void line(const std::string& l);
  void show(std::string_view piece);
  void show_rest();
  void leave();

  std::ostream& out_;
  agent_names known_;
  mode mode_ = none;
  std::string message_; // whose line is open
  std::string held_;    // of a word that may go on
  std::string run_;
};

} // namespace troupe::runtime
