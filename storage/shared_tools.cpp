#include "storage/shared_tools.hpp"

#include "storage/tables.hpp"

#include <mutex>
#include <unordered_map>

namespace troupe::storage {

namespace {

constexpr std::size_t most_tools = 1024;  // that are kept
constexpr std::size_t most_bytes = 16384; // of one that is kept

struct bytes_hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view s) const noexcept { return std::hash<std::string_view>{}(s); }
};

class decoded_tools {
public:
  shared_tool of(std::string_view bytes) {
    if (bytes.size() > most_bytes) return decode(bytes);
    std::lock_guard hold(lock_);
    if (auto it = known_.find(bytes); it != known_.end()) return it->second;
    if (known_.size() >= most_tools) known_.clear(); // what is in use comes back with the next turns
    return known_.emplace(bytes, decode(bytes)).first->second;
  }

private:
  static shared_tool decode(std::string_view bytes) {
    auto record = codec::decode<tool>(bytes);
    if (!record) throw std::runtime_error("damaged record of a tool");
    return std::make_shared<const tool>(std::move(*record));
  }

  std::mutex lock_;
  std::unordered_map<std::string, shared_tool, bytes_hash, std::equal_to<>> known_;
};

} // namespace

std::vector<shared_tool> shared_tools_of(const reader& r, const agent& a) {
  static decoded_tools all;
  std::vector<shared_tool> out;
  for (auto& id : a.tool_ids)
    if (auto bytes = r.get(key(table::tools).add(id))) out.push_back(all.of(*bytes));
  return out;
}

} // namespace troupe::storage
