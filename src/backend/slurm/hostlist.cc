#include "backend/slurm/hostlist.h"

#include <cstdint>

#include <fmt/format.h>

#include "base/text.h"

namespace muster {
namespace {

constexpr std::size_t kMostHosts = 100'000;

Error no_hostlist(std::string_view text) {
  return Error{fmt::format("'{}' is not a list of hosts", text.substr(0, 80))};
}

// The numbers of "1-3,07", each with as many digits as it is written with.
Result<std::vector<std::string>> numbers_of(std::string_view text) {
  std::vector<std::string> numbers;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t dash = part.find('-');
    const std::string_view low = part.substr(0, dash);
    const std::string_view high = dash == std::string_view::npos ? low : part.substr(dash + 1);
    const bool digits = !low.empty() && !high.empty() &&
                        part.find_first_not_of("0123456789-") == std::string_view::npos &&
                        low.size() <= 9 && high.size() <= 9;
    const auto first = digits ? parse_integer(low) : std::nullopt;
    const auto last = digits ? parse_integer(high) : std::nullopt;
    if (!first || !last || *first < 0 || *last < *first ||
        static_cast<std::size_t>(*last - *first) + numbers.size() > kMostHosts) {
      return no_hostlist(text);
    }
    for (std::int64_t i = *first; i <= *last; ++i) {
      numbers.push_back(fmt::format("{:0{}}", i, low.size()));
    }
  }
  return numbers;
}

// One item without commas outside of brackets: prefix[numbers]middle[numbers]suffix.
Status expand_item(std::string_view item, std::vector<std::string>& names) {
  std::vector<std::string> made = {""};
  while (!item.empty()) {
    const std::size_t open = item.find('[');
    for (std::string& name : made) name += item.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = item.find(']', open);
    if (close == std::string_view::npos) return no_hostlist(item);
    const auto numbers = numbers_of(item.substr(open + 1, close - open - 1));
    if (!numbers) return numbers.error();
    if (made.size() * numbers->size() + names.size() > kMostHosts) return no_hostlist(item);
    std::vector<std::string> longer;
    for (const std::string& name : made) {
      for (const std::string& number : *numbers) longer.push_back(name + number);
    }
    made = std::move(longer);
    item.remove_prefix(close + 1);
  }
  names.insert(names.end(), made.begin(), made.end());
  return Done{};
}

}  // namespace

Result<std::vector<std::string>> expand_hostlist(std::string_view text) {
  std::vector<std::string> names;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (depth < 0 || depth > 1) return no_hostlist(text);
    if (c != ',' || (depth > 0 && i < text.size())) continue;
    if (depth > 0) return no_hostlist(text);
    if (i > begin) {
      if (Status done = expand_item(text.substr(begin, i - begin), names); !done) {
        return done.error();
      }
    }
    begin = i + 1;
  }
  return names;
}

}  // namespace muster
