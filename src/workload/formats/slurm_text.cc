#include "workload/formats/slurm_text.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "workload/numbers.h"

namespace muster {
namespace {

constexpr int kMostCount = 1 << 28;

// Mebibytes where no suffix says otherwise; older versions append 'c' or 'n', per core or per node,
// which TRES lists never had.
bool read_memory(std::string_view text, double& gib) {
  if (text.empty()) return false;
  double factor = 1.0 / 1024;
  switch (text.back()) {
    case 'K':
      factor = 1.0 / (1024.0 * 1024.0);
      break;
    case 'M':
      break;
    case 'G':
      factor = 1;
      break;
    case 'T':
      factor = 1024;
      break;
    case 'P':
      factor = 1024.0 * 1024.0;
      break;
    default:
      if (text.back() < '0' || text.back() > '9') return false;
  }
  if (factor != 1.0 / 1024 || text.back() == 'M') text.remove_suffix(1);
  if (!read_real(text, gib)) return false;
  gib *= factor;
  return true;
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// At the commas outside of parentheses: "gpu:2(IDX:0,3),shard:4" has two entries. The parentheses,
// which say where on the node, are left out.
std::vector<std::string_view> entries_of(std::string_view list) {
  std::vector<std::string_view> entries;
  std::size_t begin = 0;
  std::size_t end = std::string_view::npos;  // of the entry, where a parenthesis cuts it
  int depth = 0;
  for (std::size_t at = 0; at <= list.size(); ++at) {
    const char c = at < list.size() ? list[at] : ',';
    if (c == '(' && depth++ == 0) end = at;
    if (c == ')' && depth > 0) --depth;
    if ((c != ',' || depth > 0) && at < list.size()) continue;
    entries.push_back(trim(list.substr(begin, std::min(end, at) - begin)));
    begin = at + 1;
    end = std::string_view::npos;
  }
  return entries;
}

// A count of some generic resource: what, of which type, how many.
struct GenericResource {
  std::string_view kind;
  std::string_view type;
  int count = 1;
};

// "gpu", "gpu:2", "gpu:a100", "gpu:a100:2", "gpu=2" or "gpu:a100=2".
bool read_generic(std::string_view text, GenericResource& resource) {
  resource.kind = text.substr(0, text.find_first_of(":="));
  std::string_view count;
  if (const std::size_t equals = text.find('='); equals != std::string_view::npos) {
    count = text.substr(equals + 1);
    text = text.substr(0, equals);
    if (count.empty()) return false;
  }
  const std::size_t colon = text.find(':');
  std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  if (count.empty()) {
    const std::size_t last = rest.rfind(':');
    const std::string_view tail = last == std::string_view::npos ? rest : rest.substr(last + 1);
    if (all_digits(tail)) {
      count = tail;
      rest = last == std::string_view::npos ? "" : rest.substr(0, last);
    } else if (last != std::string_view::npos) {
      return false;
    }
  }
  resource.type = rest;
  return count.empty() || (read_whole_number(count, resource.count) && resource.count >= 0 &&
                           resource.count <= kMostCount);
}

// One kind of resource, whose untyped entry counts the typed ones in.
struct Tally {
  int untyped = 0;
  int typed = 0;
  int total() const { return std::max(untyped, typed); }
  bool add(const GenericResource& resource) {
    int& sum = resource.type.empty() ? untyped : typed;
    if (sum > kMostCount) return false;
    sum += resource.count;
    return true;
  }
};

void add_type(const GenericResource& resource, std::vector<TypedGpus>& types) {
  for (TypedGpus& known : types) {
    if (known.type != resource.type) continue;
    known.count += resource.count;
    return;
  }
  types.push_back({std::string(resource.type), resource.count});
}

}  // namespace

bool read_slurm_duration(std::string_view text, Seconds& value) {
  double days = 0;
  if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
    if (!read_real(text.substr(0, dash), days) || days < 0) return false;
    text.remove_prefix(dash + 1);
  }
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3) return false;
  double seconds = 0;
  for (const std::string_view part : parts) {
    double number = 0;
    if (part.empty() || part.front() < '0' || part.front() > '9' || !read_real(part, number)) {
      return false;
    }
    seconds = seconds * 60 + number;
  }
  value = days * 86400 + seconds;
  return true;
}

bool is_slurm_nothing(std::string_view text) {
  constexpr std::array<std::string_view, 9> kWords = {
      "", "(null)", "N/A", "None", "Unknown", "UNLIMITED", "Partition_Limit", "INVALID", "NOT_SET"};
  return std::find(kWords.begin(), kWords.end(), text) != kWords.end();
}

bool read_tres(std::string_view list, TrackableResources& resources) {
  if (is_slurm_nothing(list)) return true;
  Tally gpus;
  Tally shards;
  for (std::string_view entry : entries_of(list)) {
    const bool marked = entry.starts_with("gres/") || entry.starts_with("gres:");
    if (marked) entry.remove_prefix(std::string_view("gres/").size());
    const std::size_t equals = entry.find('=');
    if (!marked && equals != std::string_view::npos) {
      const std::string_view amount = entry.substr(equals + 1);
      if (entry.starts_with("cpu=")) {
        if (!read_real(amount, resources.cpus)) return false;
      } else if (entry.starts_with("mem=")) {
        if (!read_memory(amount, resources.memory_gb)) return false;
        resources.has_memory = true;
      }
      continue;
    }
    GenericResource resource;
    if (!read_generic(entry, resource)) {
      if (resource.kind == "gpu" || resource.kind == "shard") return false;
      continue;
    }
    if (resource.kind == "gpu") {
      if (!gpus.add(resource)) return false;
      if (!resource.type.empty()) add_type(resource, resources.types);
    } else if (resource.kind == "shard") {
      if (!shards.add(resource)) return false;
    } else if (!marked && entry.find(':') == std::string_view::npos) {
      return false;  // a word by itself is no list of resources
    }
  }
  resources.gpu_type = resources.types.size() == 1 ? resources.types.front().type : "";
  resources.gpus = gpus.total();
  resources.shards = shards.total();
  return true;
}

bool expand_array(std::string_view job, std::size_t most, std::vector<std::string>& tasks) {
  const std::size_t open = job.find("_[");
  if (open == std::string_view::npos) {
    tasks.emplace_back(job);
    return tasks.size() <= most;
  }
  if (job.back() != ']') return false;
  const std::string_view base = job.substr(0, open);
  std::string_view list = job.substr(open + 2, job.size() - open - 3);
  list = list.substr(0, list.find('%'));  // how many at once
  for (std::string_view range : split(list, ',')) {
    int step = 1;
    if (const std::size_t colon = range.find(':'); colon != std::string_view::npos) {
      if (!read_whole_number(range.substr(colon + 1), step) || step < 1) return false;
      range = range.substr(0, colon);
    }
    const std::size_t dash = range.find('-');
    int first = 0;
    if (!all_digits(range.substr(0, dash)) || !read_whole_number(range.substr(0, dash), first)) {
      return false;
    }
    int last = first;
    if (dash != std::string_view::npos &&
        (!all_digits(range.substr(dash + 1)) || !read_whole_number(range.substr(dash + 1), last))) {
      return false;
    }
    for (long long task = first; task <= last; task += step) {
      if (tasks.size() >= most) return false;
      tasks.push_back(fmt::format("{}_{}", base, task));
    }
  }
  return true;
}

}  // namespace muster
