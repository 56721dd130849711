#include "backend/slurm/gres.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace muster {
namespace {

constexpr std::int64_t kMostGres = 1'000'000;

std::optional<int> gres_count(std::string_view text) {
  std::int64_t scale = 1;
  if (text.ends_with('K') || text.ends_with('k')) scale = 1024;
  if (text.ends_with('M')) scale = 1024 * 1024;
  if (scale > 1) text.remove_suffix(1);
  const auto number = parse_integer(text);
  if (!number || *number < 0 || *number > kMostGres / scale) return std::nullopt;
  return static_cast<int>(*number * scale);
}

std::optional<Gres> one_gres(std::string_view text) {
  text = trim(text);
  // Which sockets, or which indexes: not what is counted here.
  text = text.substr(0, text.find('('));
  for (const std::string_view prefix : {"gres:", "gres/"}) {
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  }
  std::string plain(text);
  std::replace(plain.begin(), plain.end(), '=', ':');
  const std::vector<std::string_view> words = split(plain, ':');
  if (words.empty() || words[0].empty() || words.size() > 3) return std::nullopt;
  Gres gres;
  gres.name = std::string(words[0]);
  if (words.size() == 1) return gres;
  const std::optional<int> count = gres_count(words.back());
  // "gpu:a100" is one of that type.
  const bool number = !words.back().empty() && (words.back()[0] == '-' || count);
  if (words.size() == 2 && !number) {
    gres.type = std::string(words[1]);
    return gres;
  }
  if (!count) return std::nullopt;
  gres.count = *count;
  if (words.size() == 3) gres.type = std::string(words[1]);
  return gres;
}

}  // namespace

std::vector<Gres> parse_gres(std::string_view text) {
  std::vector<Gres> all;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (i < text.size() && (c != ',' || depth > 0)) continue;
    if (auto gres = one_gres(text.substr(begin, i - begin))) all.push_back(std::move(*gres));
    begin = i + 1;
  }
  return all;
}

int count_of(const std::vector<Gres>& all, std::string_view name) {
  std::int64_t sum = 0;
  for (const Gres& gres : all) {
    if (gres.name == name) sum += gres.count;
  }
  return static_cast<int>(std::min(sum, kMostGres));
}

std::string type_of(const std::vector<Gres>& all, std::string_view name) {
  std::string type;
  for (const Gres& gres : all) {
    if (gres.name != name || gres.count == 0) continue;
    if (!type.empty() && gres.type != type) return "";
    type = gres.type;
  }
  return type;
}

}  // namespace muster
