// Paths of the API -> endpoints (reference: resources §1.1). Every route is mounted under /v1 and /latest.
#pragma once

#include "net/http/message.hpp"

#include <map>

namespace troupe::net::rest {

struct call;
using outcome = result<http::response>;
// Endpoints are coroutines of the I/O thread.
using endpoint = std::function<awaitable<outcome>(call&)>;

using path_values =
    std::vector<std::pair<std::string, std::string>>; // names of the pattern with what stood there

class router {
public:
  // `pattern` is a path below the version, as the API declares it, with or without a slash at its end:
  // "/agents/{agent_id}/messages". Declaring a route twice replaces the first.
  void add(std::string_view method, std::string_view pattern, endpoint e);
  // An operation of the API that this version does not serve: answered with 501, never 404.
  void declare(std::string_view method, std::string_view pattern);

  struct match {
    enum class kind { found, unserved, redirect, wrong_method, nothing } what = kind::nothing;
    const endpoint* target = nullptr;
    path_values values;
  };
  match find(std::string_view method, std::string_view path) const;

  // Served operations: "GET /v1/agents/".
  std::vector<std::string> served() const;

private:
  struct action {
    endpoint target; // empty: declared only
    std::vector<std::string> names;
    std::string pattern;
  };
  struct node {
    std::map<std::string, std::unique_ptr<node>, std::less<>> literals;
    std::unique_ptr<node> parameter;
    std::map<std::string, action, std::less<>> actions; // by method
  };
  using segments = std::vector<std::string_view>;

  node& at(std::string_view pattern, std::vector<std::string>& names);
  // Calls `visit` for every node that the path leads to, literal names first, until it gives true.
  static bool walk(const node& n, const segments& path, std::size_t i, std::vector<std::string_view>& values,
                   const std::function<bool(const node&, const std::vector<std::string_view>&)>& visit);
  bool any(std::string_view path) const;
  node root_;
};

} // namespace troupe::net::rest
