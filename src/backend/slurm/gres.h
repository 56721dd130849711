// What Slurm writes about GPUs: of nodes ("gpu:v100:4(S:0-1),shard:v100:16"), of requests
// ("gres:gpu:2", "gres/gpu:a100=1") and of allocations ("gpu:a100:3(IDX:0-2)").
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster {

struct Gres {
  std::string name;  // gpu, shard, mps
  std::string type;  // empty: none is said
  int count = 1;

  friend bool operator==(const Gres&, const Gres&) = default;
};

// What cannot be read is left out: a cluster may have any other gres beside its GPUs.
std::vector<Gres> parse_gres(std::string_view text);

// The sum over all types.
int count_of(const std::vector<Gres>& all, std::string_view name);
// The one type of that name; empty where there is none, or several.
std::string type_of(const std::vector<Gres>& all, std::string_view name);

}  // namespace muster
