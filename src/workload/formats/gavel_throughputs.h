// The isolated throughputs in Gavel's JSON tables, of one GPU type: all that a trace needs to turn
// steps into seconds. Performance models read the whole table elsewhere.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace muster {

class GavelThroughputs {
 public:
  bool empty() const { return rates_.empty(); }
  // Steps per second of all GPUs of the job together; 0 where the table has no such entry.
  double steps_per_second(std::string_view job_type, int gpus) const {
    const auto found = rates_.find(std::pair(gpus, job_type));
    return found == rates_.end() ? 0 : found->second;
  }
  void add(std::string_view job_type, int gpus, double rate) {
    rates_[{gpus, std::string(job_type)}] = rate;
  }

 private:
  struct Less {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return a.first != b.first ? a.first < b.first
                                : std::string_view(a.second) < std::string_view(b.second);
    }
  };
  std::map<std::pair<int, std::string>, double, Less> rates_;
};

Result<GavelThroughputs> load_gavel_throughputs(const std::string& path, std::string_view gpu_type);

}  // namespace muster
