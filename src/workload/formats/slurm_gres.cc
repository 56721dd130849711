#include "workload/formats/slurm_gres.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/text.h"

namespace muster {
namespace {

// A count, also with a suffix ("1K"), as opposed to a type ("a100", "1g.5gb").
bool is_gres_count(std::string_view text) {
  if (text.starts_with('-')) return true;
  if (text.ends_with('K') || text.ends_with('k') || text.ends_with('M')) text.remove_suffix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<int> gres_count(std::string_view text) {
  std::int64_t scale = 1;
  if (text.ends_with('K') || text.ends_with('k')) scale = 1024;
  if (text.ends_with('M')) scale = 1024LL * 1024;
  if (scale > 1) text.remove_suffix(1);
  const auto number = parse_integer(text);
  if (!number || *number < 0 || *number > kMostGres / scale) return std::nullopt;
  return static_cast<int>(*number * scale);
}

}  // namespace

std::vector<std::string_view> gres_entries(std::string_view list) {
  std::vector<std::string_view> entries;
  std::size_t begin = 0;
  std::size_t end = std::string_view::npos;  // of the entry, where a parenthesis cuts it
  int depth = 0;
  for (std::size_t at = 0; at <= list.size(); ++at) {
    const char c = at < list.size() ? list[at] : ',';
    if (c == '(' && depth++ == 0) end = std::min(end, at);
    if (c == ')' && depth > 0) --depth;
    if ((c != ',' || depth > 0) && at < list.size()) continue;
    entries.push_back(trim(list.substr(begin, std::min(end, at) - begin)));
    begin = at + 1;
    end = std::string_view::npos;
  }
  return entries;
}

bool read_gres(std::string_view entry, Gres& gres) {
  if (entry.starts_with("gres:") || entry.starts_with("gres/")) entry.remove_prefix(5);
  const std::size_t name_end = std::min(entry.find_first_of(":="), entry.size());
  gres = {std::string(entry.substr(0, name_end)), "", 1};
  if (gres.name.empty()) return false;
  if (name_end == entry.size()) return true;
  std::string_view count;
  std::string_view type;
  if (const std::size_t equals = entry.find('='); equals != std::string_view::npos) {
    count = entry.substr(equals + 1);
    type = equals > name_end ? entry.substr(name_end + 1, equals - name_end - 1) : "";
    if (count.empty()) return false;
  } else {
    const std::string_view rest = entry.substr(name_end + 1);
    const std::size_t last = rest.rfind(':');
    count = last == std::string_view::npos ? rest : rest.substr(last + 1);
    type = last == std::string_view::npos ? "" : rest.substr(0, last);
    // "gpu:a100" is one of that type.
    if (!is_gres_count(count)) {
      if (!type.empty() || count.empty()) return false;
      type = std::exchange(count, "1");
    }
  }
  const std::optional<int> number = gres_count(count);
  if (!number || type.find(':') != std::string_view::npos) return false;
  gres.type = std::string(type);
  gres.count = *number;
  return true;
}

std::vector<Gres> parse_gres(std::string_view list) {
  std::vector<Gres> all;
  for (const std::string_view entry : gres_entries(list)) {
    if (Gres gres; read_gres(entry, gres)) all.push_back(std::move(gres));
  }
  return all;
}

int count_of(const std::vector<Gres>& all, std::string_view name) {
  std::int64_t sum = 0;
  for (const Gres& gres : all) {
    if (gres.name == name) sum += gres.count;
  }
  return static_cast<int>(std::min<std::int64_t>(sum, kMostGres));
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
