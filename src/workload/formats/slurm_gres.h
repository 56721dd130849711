// What Slurm writes about GPUs and the like, in the spellings of all its releases and commands:
//   gpu:v100:4(S:0-1),shard:v100:16   nodes
//   gres:gpu:2   gres/gpu:a100=1      requests, accounting
//   gpu:a100:3(IDX:0-2)               allocations
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

inline constexpr int kMostGres = 1 << 28;

// A list at its commas outside of parentheses; the parentheses, which say where on the node, are
// left out.
std::vector<std::string_view> gres_entries(std::string_view list);
// One of them. False where it is none; its name is there all the same.
bool read_gres(std::string_view entry, Gres& gres);

// What cannot be read is left out: a cluster may have any other gres beside its GPUs.
std::vector<Gres> parse_gres(std::string_view list);
// The sum over all types.
int count_of(const std::vector<Gres>& all, std::string_view name);
// The one type of that name; empty where there is none, or several.
std::string type_of(const std::vector<Gres>& all, std::string_view name);

}  // namespace muster
