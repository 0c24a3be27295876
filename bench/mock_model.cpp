// An OpenAI-compatible endpoint that answers at once. The model's name says how: mock-TOKENS, mock-TOKENS-PAUSE with
// so many microseconds between two tokens of a stream, mock-hold for a stream that never ends after its first token.
// Requests are searched, not parsed: the only client writes them without spaces.
#include "bench/http_server.hpp"

#include <charconv>

namespace {

using troupe::bench::answer;

// The text between `before` and the next quotation mark.
std::string_view quoted_after(std::string_view text, std::string_view before) {
  auto at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  return text.substr(0, text.find('"'));
}

struct plan {
  int tokens = 1;
  int pause_us = 0;
  bool hold = false;
};

plan plan_of(std::string_view model) {
  plan p;
  p.hold = model == "hold";
  auto* end = model.data() + model.size();
  auto [rest, ec] = std::from_chars(model.data(), end, p.tokens);
  if (ec == std::errc{} && rest != end) std::from_chars(rest + 1, end, p.pause_us);
  if (p.hold) p.tokens = 2;
  return p;
}

constexpr std::string_view usage =
    R"("usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":110})";

std::string event(std::string_view delta, std::string_view reason) {
  return std::string(
             R"(data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"mock","choices":)") +
         R"([{"index":0,"delta":)" + std::string(delta) + R"(,"finish_reason":)" + std::string(reason) +
         "}]}\n\n";
}

answer streamed(const plan& p) {
  answer a;
  a.pause = std::chrono::microseconds(p.pause_us);
  a.hold = p.hold;
  for (int i = 0; i < p.tokens; ++i)
    a.pieces.push_back(event(R"({"role":"assistant","content":"token "})", "null"));
  a.pieces.push_back(event("{}", R"("stop")") + R"(data: {"choices":[],)" + std::string(usage) +
                     "}\n\ndata: [DONE]\n\n");
  return a;
}

answer whole(const plan& p) {
  std::string text;
  for (int i = 0; i < p.tokens; ++i) text += "token ";
  answer a;
  a.body =
      R"({"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"mock","choices":[{"index":0,)"
      R"("message":{"role":"assistant","content":")" +
      text + R"("},"finish_reason":"stop"}],)" + std::string(usage) + "}";
  return a;
}

constexpr std::string_view models =
    R"({"object":"list","data":[{"id":"mock-1","object":"model"},{"id":"mock-501","object":"model"},)"
    R"({"id":"mock-501-1000","object":"model"},{"id":"mock-hold","object":"model"}]})";

answer handle(std::string_view target, std::string_view body) {
  answer a;
  if (target.ends_with("/models")) {
    a.body = models;
    return a;
  }
  auto p = plan_of(quoted_after(body, R"("model":"mock-)"));
  return body.find(R"("stream":true)") == std::string_view::npos ? whole(p) : streamed(p);
}

} // namespace

int main() { return troupe::bench::serve(handle); }
