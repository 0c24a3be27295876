#include "runtime/welcome.hpp"

#include "core/base/text.hpp"
#include "runtime/terminal/connection.hpp"

#include <iostream>

namespace troupe::runtime {

std::string url_of(const config& c, std::uint16_t port) {
  auto host = c.http.host == "0.0.0.0" || c.http.host == "::" ? std::string("127.0.0.1") : c.http.host;
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return (c.http.tls_certificate.empty() ? "http://" : "https://") + host + ":" + std::to_string(port);
}

namespace {
std::string quoted(const std::string& s) { return "'" + text::replace_all(s, "'", R"('\'')") + "'"; }
} // namespace

void print_example(std::ostream& out, const std::string& url, const std::string& password) {
  auto key = password.empty() ? std::string() : " -H " + quoted("Authorization: Bearer " + password);
  out << "\nTry in another terminal:\n\n"
      << "  AGENT=$(curl -s" << key << " " << url
      << "/v1/agents/ -d '{\"model\": \"rehearsal/default\", \"memory_blocks\": [{\"label\": \"human\", "
         "\"value\": \"\"}]}'"
      << " | grep -o 'agent-[0-9a-f-]*' | head -1)\n"
      << "  curl -sN" << key << " " << url
      << "/v1/agents/$AGENT/messages/stream -d '{\"input\": \"My name is Ada.\", \"stream_tokens\": true}'\n"
      << "  curl -s" << key << " " << url << "/v1/agents/$AGENT/core-memory/blocks/human\n"
      << std::endl;
}

void print_cast(std::ostream& out, const std::string& program, const std::string& url,
                const std::string& password) {
  std::string where;
  if (url != server_address{}.url) where += " --url " + url;
  if (!password.empty()) where += " --password " + quoted(password);
  out << "\nA small cast is here, played by the built-in model. Try in another terminal:\n\n"
      << "  " << program << " groups" << where << "\n\n"
      << "The round table: Mira begins, Olaf doubts, Zora makes a plan of it\n"
      << "  " << program << " chat" << where << " --group 'round table' -m 'Should we get a dog?'\n\n"
      << "The travel desk: Nora asks Finn and Lena, and answers\n"
      << "  " << program << " chat" << where << " --group 'travel desk' -m 'Plan a weekend in Lisbon.'\n\n"
      << "Sam talks; a companion writes down what matters\n"
      << "  " << program << " chat" << where << " --agent Sam -m 'My name is Ada and I like green tea.'\n"
      << "  " << program << " chat" << where << " --agent Sam -m 'What do you know about me?'\n"
      << std::endl;
}

} // namespace troupe::runtime
