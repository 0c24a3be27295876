// Reads the arguments of a tool call while they arrive, cut anywhere: the members of a JSON object, one after another,
// with the text of their values as it comes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::project {

class argument_scanner {
public:
  struct token {
    enum class kind {
      key,   // a member begins; its name as written, with the quotes
      piece, // some of its value, as written
      end,   // the value is whole
      done   // the object is whole, or the text is no object; nothing follows
    } what = kind::key;
    std::string text;
  };
  void feed(std::string_view bytes, std::vector<token>& out);

private:
  enum class state { before, member, key, colon, value, string, nested, scalar, after, done };

  void take(char c, std::vector<token>& out);
  void begin_value(char c);
  bool closes_string(char c);
  void end_value(std::vector<token>& out, state next);
  void flush(std::vector<token>& out);

  state state_ = state::before;
  std::string text_; // of the key, or of the value since the last token
  bool escaped_ = false;
  bool in_string_ = false; // inside a nested value
  int depth_ = 0;
};

// The text of a JSON string whose bytes (quotes and escapes included) come piece by piece. What it gives is whole
// UTF-8; halves of surrogate pairs that stand alone are left out.
class string_decoder {
public:
  std::string feed(std::string_view bytes);

private:
  void take(char c);
  void take_unit(std::uint32_t unit);

  std::string out_;
  bool escaped_ = false;
  int digits_ = 0; // of \uXXXX, still to come
  std::uint32_t unit_ = 0;
  std::uint32_t high_ = 0; // first half of a pair
};

// Takes the whole characters from the front of `bytes`; what is left is the beginning of one.
std::string take_whole_characters(std::string& bytes);

} // namespace troupe::project
