#include "core/project/inner_stream.hpp"

#include "core/json/value.hpp"

#include <utility>

namespace troupe::project {

namespace {
using token = argument_scanner::token;

delta piece(delta::kind what, std::string text) {
  delta d;
  d.what = what;
  d.text = std::move(text);
  return d;
}
} // namespace

void inner_stream::feed(const delta& d, std::vector<delta>& out) {
  switch (d.what) {
  case delta::kind::tool_call: return take_call(d, out);
  case delta::kind::text:
    if (view_.thoughts)
      held_ += d.text;
    else
      out.push_back(piece(delta::kind::thoughts, d.text));
    return;
  default: reasoned_ = true; out.push_back(d);
  }
}

void inner_stream::take_call(const delta& d, std::vector<delta>& out) {
  if (id_.empty()) id_ = d.call_id;
  if (d.call_id != id_) return;
  if (name_.empty()) name_ = d.call_name;
  tokens_.clear();
  scanner_.feed(d.text, tokens_);
  for (auto& t : tokens_) take(t, out);
}

void inner_stream::finish(std::vector<delta>& out) {
  if (!name_.empty()) release(out);
}

void inner_stream::take(const token& t, std::vector<delta>& out) {
  switch (t.what) {
  case token::kind::key: return begin_member(t.text, out);
  case token::kind::piece: return take_value(t.text, out);
  case token::kind::end: return end_member(out);
  case token::kind::done:
    if (!speaks()) show(empty_ ? "{}" : "}", out);
    return release(out);
  }
}

void inner_stream::begin_member(const std::string& key, std::vector<delta>& out) {
  decoder_ = {};
  value_.clear();
  is_text_.reset();
  if (key == R"("thinking")")
    member_ = reasoned_ ? member::left_out : member::thoughts;
  else if (speaks())
    member_ = key == R"("message")" ? member::message : member::left_out;
  else
    member_ = member::passed_on;
  // Nobody asked for thoughts: once the call begins with anything else, nothing has to wait for them.
  if (!view_.thoughts && key != R"("thinking")") release(out);
  if (member_ == member::passed_on) show((std::exchange(empty_, false) ? "{" : ", ") + key + ": ", out);
}

void inner_stream::take_value(const std::string& bytes, std::vector<delta>& out) {
  if (member_ == member::left_out) return;
  if (member_ == member::passed_on) {
    half_ += bytes;
    return show(take_whole_characters(half_), out);
  }
  if (!is_text_) is_text_ = bytes.starts_with('"');
  if (!*is_text_) {
    value_ += bytes;
    return;
  }
  auto text = decoder_.feed(bytes);
  if (member_ == member::message) return show(std::move(text), out);
  if (text.empty()) return;
  thought_ = true;
  out.push_back(piece(delta::kind::thoughts, std::move(text)));
}

void inner_stream::end_member(std::vector<delta>& out) {
  if (member_ == member::message && !value_.empty())
    if (auto v = json::try_parse(value_)) show(json::print_python(*v), out);
  if (member_ == member::thoughts && thought_) release(out);
}

void inner_stream::show(std::string text, std::vector<delta>& out) {
  if (!released_) {
    waiting_ += text;
    return;
  }
  if (text.empty()) return;
  auto what = speaks() ? delta::kind::text : delta::kind::tool_call;
  if (!out.empty() && out.back().what == what && out.back().call_name.empty()) {
    out.back().text += text;
    return;
  }
  out.push_back(piece(what, std::move(text)));
  if (!speaks()) out.back().call_id = id_;
}

void inner_stream::release(std::vector<delta>& out) {
  if (std::exchange(released_, true)) return;
  if (!thought_ && !held_.empty()) out.push_back(piece(delta::kind::thoughts, held_));
  if (!speaks()) {
    out.push_back(piece(delta::kind::tool_call, {}));
    out.back().call_id = id_;
    out.back().call_name = name_;
  }
  show(std::exchange(waiting_, {}), out);
}

} // namespace troupe::project
