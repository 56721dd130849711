#include "workload/formats/slurm_text.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
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

bool read_tres(std::string_view list, TrackableResources& resources) {
  if (list.empty()) return true;
  constexpr std::string_view kGpu = "gres/gpu";
  int untyped = 0;
  int typed = 0;
  int types = 0;
  for (const std::string_view entry : split(list, ',')) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view name = entry.substr(0, equals);
    const std::string_view amount = entry.substr(equals + 1);
    if (name == kGpu) {
      if (!read_whole_number(amount, untyped)) return false;
    } else if (name.starts_with(kGpu) && name.size() > kGpu.size() && name[kGpu.size()] == ':') {
      int count = 0;
      if (!read_whole_number(amount, count) || count > (1 << 28) || typed > (1 << 28)) return false;
      typed += count;
      ++types;
      resources.gpu_type = name.substr(kGpu.size() + 1);
    } else if (name == "cpu") {
      if (!read_real(amount, resources.cpus)) return false;
    } else if (name == "mem") {
      if (!read_memory(amount, resources.memory_gb)) return false;
    }
  }
  if (types != 1) resources.gpu_type.clear();
  // The untyped entry counts the typed ones in.
  resources.gpus = std::max(untyped, typed);
  return true;
}

}  // namespace muster
