// Names that upset text formats: drawn from separators, quotes, escapes, blanks and bytes beyond
// ASCII. Every format that keeps names must give them back as they were.
#pragma once

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

inline std::vector<std::string> hostile_names(std::string_view never = "") {
  constexpr std::string_view kLetters =
      "a=,:;%\"'\\|#/ \t\n\r\v<>{}[]&\x7f\xc3\xa9\xff"
      "0-";
  std::vector<std::string> names = {"resnet 50us=8", "%20",  "-",     "a,b",  "\"",  "\"\"", "=",
                                    " blank ",       "x=1,", "#note", "it's", "a\\", "null", "1e5"};
  std::mt19937 random(7);
  while (names.size() < 400) {
    std::string name;
    for (std::size_t i = random() % 6 + 1; i > 0; --i) name += kLetters[random() % kLetters.size()];
    names.push_back(name);
  }
  for (std::string& name : names) {
    for (char& c : name) {
      if (never.find(c) != std::string_view::npos) c = '_';
    }
  }
  return names;
}

}  // namespace muster
