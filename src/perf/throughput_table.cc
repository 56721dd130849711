#include "perf/throughput_table.h"

namespace muster {

ThroughputTable::ThroughputTable(std::vector<std::string> types, std::vector<Key> keys)
    : types_(std::move(types)),
      keys_(std::move(keys)),
      alone_(types_.size() * keys_.size()),
      known_(types_.size() * keys_.size()),
      pairs_(types_.size() * keys_.size() * keys_.size()) {
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    index_.emplace(std::pair(keys_[i].job_type, keys_[i].gpus), static_cast<int>(i));
  }
}

int ThroughputTable::type(std::string_view name) const {
  for (std::size_t i = 0; i < types_.size(); ++i) {
    if (types_[i] == name) return static_cast<int>(i);
  }
  return kUnknown;
}

int ThroughputTable::key(std::string_view job_type, int gpus) const {
  const auto found = index_.find(std::pair(std::string(job_type), gpus));
  return found == index_.end() ? kUnknown : found->second;
}

}  // namespace muster
