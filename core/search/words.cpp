#include "core/search/words.hpp"

#include "core/base/text.hpp"

#include <algorithm>
#include <cstdint>

namespace troupe::search {

namespace {

constexpr std::size_t longest_word = 64; // bytes

struct sign {
  char32_t code = 0;
  std::size_t size = 1; // bytes
};

sign sign_at(std::string_view s, std::size_t at) {
  auto lead = static_cast<unsigned char>(s[at]);
  std::size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (at + size > s.size()) return {};
  char32_t code = size == 1 ? lead : lead & (0xFFu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) code = code << 6 | (static_cast<unsigned char>(s[at + i]) & 0x3Fu);
  return {code, size};
}

bool within(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

bool is_letter(char32_t c) {
  if (c < 0x80) return within(c, '0', '9') || within(c, 'a', 'z') || within(c, 'A', 'Z');
  bool mark = within(c, 0x80, 0xBF) || c == 0xD7 || c == 0xF7 || within(c, 0x2000, 0x2BFF) ||
              within(c, 0x3000, 0x303F) || within(c, 0xFE30, 0xFE4F) || within(c, 0xFF00, 0xFF0F) ||
              within(c, 0xFF1A, 0xFF20) || within(c, 0x1F000, 0x1FAFF);
  return !mark;
}

// Chinese, Japanese and Thai have no spaces between words.
bool stands_alone(char32_t c) {
  return within(c, 0x0E00, 0x0E7F) || within(c, 0x3040, 0x30FF) || within(c, 0x3400, 0x9FFF) ||
         within(c, 0xF900, 0xFAFF) || within(c, 0x20000, 0x2FFFF);
}

char32_t small(char32_t c) {
  if (within(c, 'A', 'Z') || within(c, 0xC0, 0xDE)) return c + 32;
  if (within(c, 0x391, 0x3A9) || within(c, 0x410, 0x42F)) return c + 32;
  if (within(c, 0x400, 0x40F)) return c + 80;
  if (within(c, 0x100, 0x137) || within(c, 0x14A, 0x177)) return c | 1;
  if (within(c, 0x139, 0x148) || within(c, 0x179, 0x17E)) return c + (c & 1);
  return c;
}

void append(std::string& out, char32_t c) {
  auto tail = [&](int shift) { out.push_back(static_cast<char>(0x80 | (c >> shift & 0x3F))); };
  if (c < 0x80) {
    out.push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out.push_back(static_cast<char>(0xC0 | c >> 6));
    tail(0);
  } else if (c < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | c >> 12));
    tail(6), tail(0);
  } else {
    out.push_back(static_cast<char>(0xF0 | c >> 18));
    tail(12), tail(6), tail(0);
  }
}

// Three neighbouring letters each, the ends of the word counted as letters; sorted.
std::vector<std::uint64_t> trigrams(std::string_view word) {
  std::u32string letters(1, U'\1');
  for (std::size_t at = 0; at < word.size();) {
    auto s = sign_at(word, at);
    letters.push_back(s.code);
    at += s.size;
  }
  letters.push_back(U'\1');
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i + 2 < letters.size(); ++i)
    out.push_back(static_cast<std::uint64_t>(letters[i]) << 42 |
                  static_cast<std::uint64_t>(letters[i + 1]) << 21 | letters[i + 2]);
  std::sort(out.begin(), out.end());
  return out;
}

} // namespace

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  std::string word;
  auto finish = [&] {
    if (!word.empty()) out.push_back(std::move(word));
    word.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    auto s = sign_at(text, at);
    at += s.size;
    if (!is_letter(s.code)) {
      finish();
    } else if (stands_alone(s.code)) {
      finish();
      append(word, s.code);
      finish();
    } else if (word.size() < longest_word) {
      append(word, small(s.code));
    }
  }
  finish();
  return out;
}

std::vector<std::string> distinct_words_of(std::string_view query) {
  auto words = words_of(query);
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

double likeness(std::string_view a, std::string_view b) {
  if (a == b) return 1;
  auto x = trigrams(a), y = trigrams(b);
  if (x.empty() || y.empty()) return 0;
  std::vector<std::uint64_t> common;
  std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(common));
  return 2.0 * static_cast<double>(common.size()) / static_cast<double>(x.size() + y.size());
}

std::string_view stem_of(std::string_view word) {
  auto letters = text::length(word);
  if (letters < 3) return {};
  return text::prefix(word, letters < 6 ? 3 : 4);
}

} // namespace troupe::search
