// What a keeper is to do: the part of a launch that belongs to one node. Written as JSON into the
// run folder (order.json) before the keeper starts; docs/live.md has the format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/keeper/identity.h"
#include "base/result.h"

namespace muster {

struct KeeperRank {
  int rank = 0;
  int local_rank = 0;
  std::vector<int> gpus;  // what CUDA_VISIBLE_DEVICES names
  std::vector<int> cpus;  // the processors it may use; empty: all
};

struct KeeperOrder {
  std::uint32_t job = 0;
  std::uint32_t launch = 0;
  std::uint64_t generation = 0;
  int nodes = 1;  // of the whole launch
  int world_size = 1;
  std::string master_address = "127.0.0.1";
  int master_port = 0;
  std::vector<KeeperRank> ranks;  // those of this node
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;  // all of it; ours is added
  std::string working_directory;
  int stop_signal = 15;
  double grace_seconds = 30;          // where a stop does not say
  double prepare_seconds = 300;       // without a go it gives up
  double fence_seconds = 0;           // without contact it kills the job; 0: never
  std::int64_t log_bytes = 64 << 20;  // of one file
  int log_files = 3;                  // the current one and older ones, per rank
  std::string cgroup;                 // a cgroup v2 folder to make our own in; empty: none
  std::int64_t memory_bytes = 0;      // limits of that cgroup; 0: none
  double cores = 0;
  std::optional<Identity> identity;  // whose processes the ranks are; none: the keeper's own

  friend bool operator==(const KeeperOrder&, const KeeperOrder&) = default;
};
inline bool operator==(const KeeperRank& a, const KeeperRank& b) {
  return a.rank == b.rank && a.local_rank == b.local_rank && a.gpus == b.gpus && a.cpus == b.cpus;
}

std::string order_text(const KeeperOrder& order);
// Refuses what cannot be carried out: unknown fields, names of variables that cannot be, zero
// bytes.
Result<KeeperOrder> parse_order(std::string_view text);

}  // namespace muster
