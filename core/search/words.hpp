// The words of a text as the search compares them, in any script.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace troupe::search {

// Letters and digits, small letters for capital ones; of scripts that are written without spaces, each sign by itself.
// What is longer than any word (encoded data) is cut.
std::vector<std::string> words_of(std::string_view text);

// The words of a query: each once, in order of the alphabet.
std::vector<std::string> distinct_words_of(std::string_view query);

// How near two words are to each other in their letters: 0 nothing in common, 1 the same.
double likeness(std::string_view a, std::string_view b);

// What a word and its relatives begin with: turtle, turtles. Empty for words that are too short to have any.
std::string_view stem_of(std::string_view word);

} // namespace troupe::search
