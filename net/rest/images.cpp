#include "net/rest/images.hpp"

#include "core/base/text.hpp"

#include <boost/beast/core/detail/base64.hpp>

namespace troupe::net::rest {

std::string base64(std::string_view bytes) {
  namespace b64 = boost::beast::detail::base64;
  std::string out(b64::encoded_size(bytes.size()), '\0');
  out.resize(b64::encode(out.data(), bytes.data(), bytes.size()));
  return out;
}

std::optional<std::pair<std::string, std::string>> parse_data_url(std::string_view url) {
  auto comma = url.find(',');
  if (!url.starts_with("data:") || comma == std::string_view::npos) return std::nullopt;
  auto head = url.substr(5, comma - 5);
  if (!head.ends_with(";base64")) return std::nullopt;
  head.remove_suffix(7);
  return std::pair(std::string(head.empty() ? "image/png" : head.substr(0, head.find(';'))),
                   std::string(url.substr(comma + 1)));
}

namespace {

std::string media_type_of(const client_answer& a, std::string_view url) {
  auto type = text::lower(text::trim(std::string_view(a.content_type).substr(0, a.content_type.find(';'))));
  if (type.starts_with("image/")) return type;
  auto path = text::lower(url.substr(0, url.find_first_of("?#")));
  for (auto [ending, guess] : {std::pair{".jpg", "image/jpeg"},
                               {".jpeg", "image/jpeg"},
                               {".gif", "image/gif"},
                               {".webp", "image/webp"}})
    if (path.ends_with(ending)) return guess;
  return "image/png";
}

error not_fetched(const std::string& url, const std::string& why) {
  return invalid_argument("Failed to fetch image from " + url + ": " + why);
}

awaitable<result<void>> fetch_one(call& c, image_content& image) {
  auto url = image.url.value_or("");
  auto scheme = text::lower(url.substr(0, url.find(':')));
  if (scheme == "data") {
    auto parts = parse_data_url(url);
    if (!parts) co_return not_fetched(url.substr(0, 40), "not a base64 data URL");
    image.media_type = parts->first;
    image.data = parts->second;
    co_return result<void>{};
  }
  if (scheme != "http" && scheme != "https")
    co_return invalid_argument("Unsupported image URL scheme '" + scheme +
                               "'. Only 'http', 'https', and 'data' image URLs are supported. Local file "
                               "paths (file://) are not allowed.");
  client_request q;
  q.method = "GET";
  q.url = url;
  q.timeout = std::chrono::seconds(15);
  q.connect_timeout = std::chrono::seconds(5);
  q.max_answer = c.s.options.max_image;
  auto answer = co_await fetch(*c.s.client, std::move(q));
  if (!answer) co_return not_fetched(url, answer.error().message);
  if (answer->status != 200) co_return not_fetched(url, "HTTP " + std::to_string(answer->status));
  image.media_type = media_type_of(*answer, url);
  image.data = base64(answer->body);
  co_return result<void>{};
}

// Every list of parts in a request.
std::vector<std::vector<content_part>*> part_lists(send_request& request) {
  std::vector<std::vector<content_part>*> out;
  auto of_return = [&](tool_return& r) {
    if (auto* parts = std::get_if<std::vector<content_part>>(&r.func_response)) out.push_back(parts);
  };
  for (auto& m : request.messages) {
    if (auto* create = std::get_if<message_create>(&m)) out.push_back(&create->content);
    if (auto* returns = std::get_if<tool_return_create>(&m))
      for (auto& r : returns->tool_returns) of_return(r);
    if (auto* approval = std::get_if<approval_create>(&m); approval && approval->approvals)
      for (auto& item : *approval->approvals) of_return(item.returned);
  }
  return out;
}

} // namespace

awaitable<result<void>> fetch_images(call& c, send_request& request) {
  for (auto* parts : part_lists(request))
    for (auto& part : *parts) {
      auto* image = std::get_if<image_content>(&part);
      if (!image || image->source_type != "url") continue;
      if (auto done = co_await fetch_one(c, *image); !done) co_return done.error();
    }
  co_return result<void>{};
}

} // namespace troupe::net::rest
