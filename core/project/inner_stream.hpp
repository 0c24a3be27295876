// The pieces of an older loop's reply -> the pieces that its clients see (reference: agent-loop §5.3): thoughts are
// taken out of the call's arguments, and what send_message says is text. What is shown has the order of the stored
// message, so that both have the same otids: thoughts before the call.
#pragma once

#include "core/project/argument_scanner.hpp"
#include "core/project/delta.hpp"

namespace troupe::project {

struct inner_view {
  bool thoughts = false;             // the model was asked for them: what comes before them waits
  std::optional<std::string> speaks; // the tool whose `message` is shown as text, if any
};

class inner_stream {
public:
  explicit inner_stream(inner_view view) : view_(std::move(view)) {}

  void feed(const delta& d, std::vector<delta>& out);
  // The reply is whole.
  void finish(std::vector<delta>& out);

private:
  enum class member { passed_on, thoughts, message, left_out };

  void take_call(const delta& d, std::vector<delta>& out);
  void take(const argument_scanner::token& t, std::vector<delta>& out);
  void begin_member(const std::string& key, std::vector<delta>& out);
  void take_value(const std::string& bytes, std::vector<delta>& out);
  void end_member(std::vector<delta>& out);
  void show(std::string text, std::vector<delta>& out);
  void release(std::vector<delta>& out);
  bool speaks() const { return view_.speaks == name_; }

  inner_view view_;
  bool reasoned_ = false; // natively: the thoughts of the arguments are not shown, as they are not stored
  bool thought_ = false;  // something of the arguments' thoughts was shown
  bool released_ = false; // the call is shown
  std::string held_;      // text beside the call; counts only where there are no thoughts
  std::string waiting_;   // of the call, until it is released
  std::string half_;      // the beginning of a character

  std::string id_, name_; // of the first call: there is no other
  argument_scanner scanner_;
  std::vector<argument_scanner::token> tokens_;
  member member_ = member::left_out;
  bool empty_ = true; // no member of the call was passed on
  // The present member's value.
  std::optional<bool> is_text_;
  string_decoder decoder_;
  std::string value_; // where it is no text
};

} // namespace troupe::project
