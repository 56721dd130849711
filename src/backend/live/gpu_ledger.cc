#include "backend/live/gpu_ledger.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include <fmt/format.h>

namespace muster {

template <typename Visit>
void GpuLedger::each_cell(const GpuSet& gpus, Visit visit) {
  for (int i = 0; i < gpus.nodes(); ++i) {
    std::vector<Cell>& node = nodes_[index(gpus[i].node)];
    for (std::uint64_t mask = gpus[i].mask; mask != 0; mask &= mask - 1) {
      visit(node[static_cast<std::size_t>(std::countr_zero(mask))]);
    }
  }
}

void GpuLedger::add_node(NodeId node, int gpus) {
  assert(gpus >= 0 && gpus <= kMaxGpusPerNode);
  if (nodes_.size() <= index(node)) nodes_.resize(index(node) + 1);
  std::vector<Cell>& cells = nodes_[index(node)];
  if (cells.size() < static_cast<std::size_t>(gpus)) cells.resize(static_cast<std::size_t>(gpus));
}

Status GpuLedger::check(RunId run, const GpuSet& gpus) const {
  if (entries_.contains(run)) {
    return Error{
        fmt::format("job {}, launch {}: already in the ledger", index(run.job), run.launch)};
  }
  if (gpus.gpus() == 0) {
    return Error{fmt::format("job {}, launch {}: no GPUs", index(run.job), run.launch)};
  }
  for (int i = 0; i < gpus.nodes(); ++i) {
    const std::size_t node = index(gpus[i].node);
    const std::size_t there = node < nodes_.size() ? nodes_[node].size() : 0;
    if (static_cast<std::size_t>(std::bit_width(gpus[i].mask)) > there) {
      return Error{fmt::format("job {}, launch {}: GPU {} of node {}, which has {}", index(run.job),
                               run.launch, std::bit_width(gpus[i].mask) - 1, node, there)};
    }
    for (int before = 0; before < i; ++before) {
      if (gpus[before].node == gpus[i].node) {
        return Error{
            fmt::format("job {}, launch {}: node {} twice", index(run.job), run.launch, node)};
      }
    }
  }
  return Done{};
}

Status GpuLedger::promise(RunId run, const GpuSet& gpus, Sharing sharing) {
  if (Status fine = check(run, gpus); !fine) return fine;
  Entry& entry = entries_[run];
  entry.gpus = gpus;
  entry.sharing = sharing;
  entry.order = next_order_++;
  each_cell(gpus, [&](Cell& cell) { cell.queue.push_back(run); });
  check_.emplace(entry.order, run);
  ++waiting_;
  return Done{};
}

std::vector<RunId> GpuLedger::join(const GpuSet& gpus) {
  std::set<RunId> changed;
  each_cell(gpus, [&](const Cell& cell) {
    for (const std::vector<RunId>* const runs : {&cell.holders, &cell.queue}) {
      for (const RunId run : *runs) {
        Entry& entry = entries_.at(run);
        if (entry.leaving || entry.sharing == Sharing::kShared) continue;
        entry.sharing = Sharing::kShared;
        changed.insert(run);
      }
    }
  });
  return {changed.begin(), changed.end()};
}

bool GpuLedger::can_begin(RunId run, const Entry& entry) {
  bool free = true;
  each_cell(entry.gpus, [&](const Cell& cell) {
    for (const RunId holder : cell.holders) {
      const Entry& other = entries_.at(holder);
      if (other.leaving || other.sharing != Sharing::kShared || entry.sharing != Sharing::kShared) {
        free = false;
      }
    }
    for (const RunId earlier : cell.queue) {
      if (earlier == run) break;
      if (entries_.at(earlier).sharing != Sharing::kShared || entry.sharing != Sharing::kShared) {
        free = false;
      }
    }
  });
  return free;
}

void GpuLedger::hold(RunId run, Entry& entry) {
  entry.held = true;
  each_cell(entry.gpus, [&](Cell& cell) { cell.holders.push_back(run); });
}

std::vector<RunId> GpuLedger::grant() {
  std::vector<RunId> granted;
  for (const auto& [order, run] : std::exchange(check_, {})) {
    Entry& entry = entries_.at(run);
    if (!can_begin(run, entry)) continue;
    each_cell(entry.gpus, [&, run = run](Cell& cell) { std::erase(cell.queue, run); });
    hold(run, entry);
    --waiting_;
    granted.push_back(run);
  }
  return granted;
}

void GpuLedger::leave(RunId run) {
  const auto found = entries_.find(run);
  if (found != entries_.end()) found->second.leaving = true;
}

void GpuLedger::release(RunId run) {
  const auto found = entries_.find(run);
  if (found == entries_.end()) return;
  const Entry& entry = found->second;
  if (!entry.held) {
    check_.erase({entry.order, run});
    --waiting_;
  }
  each_cell(entry.gpus, [&](Cell& cell) {
    std::erase(entry.held ? cell.holders : cell.queue, run);
    // All launches that wait for this GPU: more than the first of them may share it.
    for (const RunId next : cell.queue) check_.emplace(entries_.at(next).order, next);
  });
  entries_.erase(found);
}

Result<std::vector<RunId>> GpuLedger::seize(RunId run, const GpuSet& gpus, Sharing sharing) {
  if (Status fine = check(run, gpus); !fine) return fine.error();
  std::vector<RunId> collisions;
  each_cell(gpus, [&](const Cell& cell) {
    for (const RunId holder : cell.holders) {
      if (sharing != Sharing::kShared || entries_.at(holder).sharing != Sharing::kShared) {
        collisions.push_back(holder);
      }
    }
  });
  std::sort(collisions.begin(), collisions.end());
  collisions.erase(std::unique(collisions.begin(), collisions.end()), collisions.end());
  Entry& entry = entries_[run];
  entry.gpus = gpus;
  entry.sharing = sharing;
  entry.order = next_order_++;
  hold(run, entry);
  return collisions;
}

bool GpuLedger::holds(RunId run) const {
  const auto found = entries_.find(run);
  return found != entries_.end() && found->second.held;
}

std::span<const RunId> GpuLedger::holders(NodeId node, int gpu) const {
  if (index(node) >= nodes_.size()) return {};
  const std::vector<Cell>& cells = nodes_[index(node)];
  if (gpu < 0 || static_cast<std::size_t>(gpu) >= cells.size()) return {};
  return cells[static_cast<std::size_t>(gpu)].holders;
}

}  // namespace muster
