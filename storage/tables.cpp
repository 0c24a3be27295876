#include "storage/tables.hpp"

namespace troupe::storage {

namespace {
constexpr std::size_t longest_text = 200; // LMDB keys end at 511 bytes

std::uint64_t fnv1a(std::string_view s) {
  std::uint64_t h = 14695981039346656037ull;
  for (char c : s) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return h;
}
} // namespace

key& key::add(std::uint64_t n) {
  bytes_ += big_endian(n);
  return *this;
}

key& key::text_prefix(std::string_view s) {
  bytes_ += s.substr(0, longest_text);
  return *this;
}

key& key::text(std::string_view s) {
  text_prefix(s);
  if (s.size() > longest_text) bytes_.append("\1", 1).append(big_endian(fnv1a(s)));
  bytes_.push_back('\0'); // no stored text holds U+0000
  return *this;
}

std::string big_endian(std::uint64_t n) {
  std::string out(8, '\0');
  for (int i = 7; i >= 0; --i, n >>= 8) out[static_cast<std::size_t>(i)] = static_cast<char>(n);
  return out;
}

std::uint64_t number_at(std::string_view k, std::size_t at) {
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < 8; ++i) n = n << 8 | static_cast<unsigned char>(k[at + i]);
  return n;
}

} // namespace troupe::storage
