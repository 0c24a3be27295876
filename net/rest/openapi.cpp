// GET /openapi.json: what is served, in the API's own schema (configs/api).
#include "core/base/embedded.hpp"
#include "core/base/text.hpp"
#include "net/rest/resources.hpp"

#include <set>

namespace troupe::net::rest {

void declare_all(router& r) {
  for (auto& line : text::split_lines(embedded("api/operations.txt"))) {
    auto space = line.find(' ');
    auto path = std::string_view(line).substr(space + 1);
    if (path.starts_with("/v1")) path.remove_prefix(3);
    r.declare(std::string_view(line).substr(0, space), path);
  }
}

std::string openapi_document(const router& r, std::string_view version) {
  auto served = r.served();
  std::set<std::string> operations(served.begin(), served.end());
  auto document = *json::try_parse(embedded("api/openapi.json"));
  auto& root = document.get_object();
  root["info"].get_object()["version"] = boost::json::string(version);
  json::object paths;
  for (auto& [path, methods] : root["paths"].get_object()) {
    json::object kept;
    for (auto& [method, operation] : methods.get_object()) {
      std::string name{method.data(), method.size()};
      for (auto& ch : name) ch = static_cast<char>(std::toupper(static_cast<unsigned char>(ch)));
      if (operations.contains(name + " " + std::string(path))) kept[method] = std::move(operation);
    }
    if (!kept.empty()) paths[path] = std::move(kept);
  }
  root["paths"] = std::move(paths);
  return json::print(document);
}

} // namespace troupe::net::rest
