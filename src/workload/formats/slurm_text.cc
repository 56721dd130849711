#include "workload/formats/slurm_text.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "workload/formats/slurm_gres.h"
#include "workload/numbers.h"

namespace muster {
namespace {

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

// One kind of resource, whose untyped entry counts the typed ones in.
struct Tally {
  int untyped = 0;
  int typed = 0;
  int total() const { return std::max(untyped, typed); }
  bool add(const Gres& resource) {
    int& sum = resource.type.empty() ? untyped : typed;
    if (sum > kMostGres) return false;
    sum += resource.count;
    return true;
  }
};

void add_type(const Gres& resource, std::vector<TypedGpus>& types) {
  for (TypedGpus& known : types) {
    if (known.type != resource.type) continue;
    known.count += resource.count;
    return;
  }
  types.push_back({resource.type, resource.count});
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
  for (const std::string_view entry : gres_entries(list)) {
    const bool marked = entry.starts_with("gres/") || entry.starts_with("gres:");
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
    Gres resource;
    if (!read_gres(entry, resource)) {
      if (resource.name.empty() || resource.name == "gpu" || resource.name == "shard") return false;
      continue;
    }
    if (resource.name == "gpu") {
      if (!gpus.add(resource)) return false;
      if (!resource.type.empty()) add_type(resource, resources.types);
    } else if (resource.name == "shard") {
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
