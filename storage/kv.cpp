#include "storage/kv.hpp"

namespace troupe::storage {

std::string after_prefix(std::string_view prefix) {
  std::string out(prefix);
  while (!out.empty() && static_cast<unsigned char>(out.back()) == 0xff) out.pop_back();
  if (!out.empty()) out.back() = static_cast<char>(static_cast<unsigned char>(out.back()) + 1);
  return out;
}

void reader::scan_prefix(std::string_view prefix, direction d, const visitor& visit) const {
  scan(prefix, after_prefix(prefix), d, visit);
}

std::size_t reader::count_prefix(std::string_view prefix) const {
  std::size_t n = 0;
  scan_prefix(prefix, direction::forward, [&](auto, auto) { return ++n, true; });
  return n;
}

void transaction::erase_prefix(std::string_view prefix) {
  std::vector<std::string> keys;
  scan_prefix(prefix, direction::forward, [&](auto key, auto) { return keys.emplace_back(key), true; });
  for (auto& key : keys) erase(key);
}

} // namespace troupe::storage
