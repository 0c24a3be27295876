#include "net/rest/router.hpp"

namespace troupe::net::rest {

namespace {

// "/a/b/" -> a, b and an empty last one: the slash at the end is part of the path.
std::vector<std::string_view> split_path(std::string_view path) {
  std::vector<std::string_view> out;
  if (path.starts_with('/')) path.remove_prefix(1);
  for (;;) {
    auto slash = path.find('/');
    out.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return out;
    path.remove_prefix(slash + 1);
  }
}

// The path below the version. Nothing for paths outside of it.
std::optional<std::string_view> below_version(std::string_view path) {
  for (std::string_view version : {"/v1/", "/latest/"})
    if (path.starts_with(version)) return path.substr(version.size() - 1);
  return std::nullopt;
}

} // namespace

router::node& router::at(std::string_view pattern, std::vector<std::string>& names) {
  auto* n = &root_;
  for (auto segment : split_path(pattern)) {
    bool parameter = segment.starts_with('{') && segment.ends_with('}');
    auto& next = parameter ? n->parameter : n->literals[std::string(segment)];
    if (!next) next = std::make_unique<node>();
    if (parameter) names.emplace_back(segment.substr(1, segment.size() - 2));
    n = next.get();
  }
  return *n;
}

void router::add(std::string_view method, std::string_view pattern, endpoint e) {
  std::vector<std::string> names;
  auto& n = at(pattern, names);
  n.actions[std::string(method)] = {std::move(e), std::move(names), std::string(pattern)};
}

void router::declare(std::string_view method, std::string_view pattern) {
  std::vector<std::string> names;
  auto& n = at(pattern, names);
  n.actions.try_emplace(std::string(method), action{{}, std::move(names), std::string(pattern)});
}

bool router::walk(const node& n, const segments& path, std::size_t i, std::vector<std::string_view>& values,
                  const std::function<bool(const node&, const std::vector<std::string_view>&)>& visit) {
  if (i == path.size()) return !n.actions.empty() && visit(n, values);
  if (auto it = n.literals.find(path[i]);
      it != n.literals.end() && walk(*it->second, path, i + 1, values, visit))
    return true;
  if (!n.parameter || path[i].empty()) return false;
  values.push_back(path[i]);
  bool done = walk(*n.parameter, path, i + 1, values, visit);
  values.pop_back();
  return done;
}

bool router::any(std::string_view path) const {
  std::vector<std::string_view> values;
  return walk(root_, split_path(path), 0, values, [](auto&, auto&) { return true; });
}

router::match router::find(std::string_view method, std::string_view path) const {
  match out;
  auto below = below_version(path);
  if (!below) return out;
  bool seen = false;
  std::vector<std::string_view> values;
  walk(root_, split_path(*below), 0, values, [&](const node& n, const std::vector<std::string_view>& found) {
    seen = true;
    auto it = n.actions.find(method);
    if (it == n.actions.end()) return false;
    auto& a = it->second;
    out.what = a.target ? match::kind::found : match::kind::unserved;
    out.target = &a.target;
    for (std::size_t i = 0; i < a.names.size(); ++i)
      out.values.emplace_back(a.names[i], std::string(found[i]));
    return true;
  });
  if (out.what != match::kind::nothing) return out;
  if (seen) {
    out.what = match::kind::wrong_method;
    return out;
  }
  // The other form of the path: with the slash at its end, or without.
  auto other =
      below->ends_with('/') ? std::string(below->substr(0, below->size() - 1)) : std::string(*below) + "/";
  if (other.empty() || !any(other)) return out;
  out.what = match::kind::redirect;
  return out;
}

std::vector<std::string> router::served() const {
  std::vector<std::string> out;
  std::function<void(const node&)> visit = [&](const node& n) {
    for (auto& [method, a] : n.actions)
      if (a.target) out.push_back(method + " /v1" + a.pattern);
    for (auto& [name, child] : n.literals) visit(*child);
    if (n.parameter) visit(*n.parameter);
  };
  visit(root_);
  return out;
}

} // namespace troupe::net::rest
