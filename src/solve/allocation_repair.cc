// What makes a table of GPUs legal, and its two objectives.
#include <algorithm>
#include <array>
#include <cmath>

#include "solve/allocation_search.h"
#include "solve/packed_bytes.h"

namespace muster {
namespace {

using packed_bytes::count_filled;
using packed_bytes::covers;
using packed_bytes::filled;
using packed_bytes::lesser;
using packed_bytes::sum_bytes;

}  // namespace

// Takes GPUs away at random until the job has no more than it may.
void AllocationSearch::trim(Word* row, int most, int most_nodes) {
  order_.clear();
  for (std::size_t n = 0; n < nodes_; ++n) {
    if (byte(row, n) > 0) order_.push_back(n);
  }
  // At random, so that repair does not favour low node numbers and the population keeps its
  // diversity.
  random_.shuffle(order_);
  int gpus = 0;
  int nodes = 0;
  for (const std::size_t n : order_) {
    const int kept = nodes < most_nodes ? std::min(byte(row, n), most - gpus) : 0;
    set_byte(row, n, kept);
    gpus += kept;
    nodes += kept > 0 ? 1 : 0;
  }
}

inline AllocationSearch::RowSize AllocationSearch::size_of_row(const Word* row, std::size_t words) {
  RowSize size;
  for (std::size_t w = 0; w < words; ++w) {
    size.nodes += count_filled(row[w]);
    size.gpus += sum_bytes(row[w]);
  }
  return size;
}

// Takes GPUs from the row until it is within the job's bounds and what is left of the nodes.
// `spread` marks the nodes of jobs that span several. Earlier jobs go first: what they took is
// gone. Time: O(nodes / 8), except for trim().
template <std::size_t kWords>
AllocationSearch::RowSize AllocationSearch::repair_row(std::size_t j, Word* row, Word* left,
                                                       Word* spread) {
  const std::size_t words = kWords > 0 ? kWords : words_;
  const Brief& job = briefs_[j];
  if (!room_.empty()) {
    const Word* const room = room_.data() + j * words;
    for (std::size_t w = 0; w < words; ++w) row[w] = lesser(row[w], room[w]);
  }
  RowSize size = size_of_row(row, words);
  if (size.nodes > 1) {
    // One job that spans nodes per node: two would share its network.
    Word taken_before = 0;
    for (std::size_t w = 0; w < words; ++w) {
      const Word taken = filled(row[w]);
      taken_before |= taken & spread[w];
      row[w] &= ~spread[w];
      spread[w] |= taken;
    }
    if (taken_before != 0) size = size_of_row(row, words);
  }
  if (size.gpus > job.most || size.nodes > options_.most_nodes) {
    trim(row, job.most, options_.most_nodes);
    size = size_of_row(row, words);
  }
  // Capacity of the nodes: element-wise minimum with what earlier jobs left.
  bool fits = true;
  for (std::size_t w = 0; w < words; ++w) fits = fits && covers(left[w], row[w]);
  for (std::size_t w = 0; w < words; ++w) {
    if (!fits) row[w] = lesser(row[w], left[w]);
    left[w] -= row[w];
  }
  if (!fits) size = size_of_row(row, words);
  // Less than its least is as good as nothing, and others may have it.
  if (size.gpus < job.least) {
    for (std::size_t w = 0; w < words; ++w) {
      left[w] += row[w];
      row[w] = 0;
    }
    size.gpus = 0;
  }
  return size;
}

// Repairs all rows and computes both objectives and the hash in one pass. Objectives are negated:
// NSGA-II minimises. A job without GPUs counts in the power mean with a speed-up of zero.
template <std::size_t kWords>
void AllocationSearch::settle_rows(Candidate& candidate) {
  constexpr std::size_t kLocal = std::max<std::size_t>(1, kWords);
  std::array<Word, kLocal> rows[3];
  const std::size_t words = kWords > 0 ? kWords : words_;
  Word* const left = kWords > 0 ? rows[0].data() : left_.data();
  Word* const spread = kWords > 0 ? rows[1].data() : spread_.data();
  Word* const used = kWords > 0 ? rows[2].data() : used_.data();
  std::copy(capacity_.begin(), capacity_.end(), left);
  std::fill(spread, spread + words, 0);
  std::fill(used, used + words, 0);
  Word* const cells = cells_of(candidate);
  const Word* const held = held_.data();
  double sum = 0;
  double speedups = 0;
  std::uint64_t hash = 0x9e3779b97f4a7c15U;
  const auto mix = [&hash](Word word) {
    // The multiplier of MurmurHash3's finaliser (Appleby), which spreads every bit.
    hash = (hash ^ word) * 0xff51afd7ed558ccdU;
    hash ^= hash >> 32;
  };
  const double none = term(0);
  const std::size_t count = jobs_->size();
  for (std::size_t j = 0; j < count; ++j) {
    Word* const row = cells + j * words;
    Word any = 0;
    for (std::size_t w = 0; w < words; ++w) any |= row[w];
    if (any == 0) {
      for (std::size_t w = 0; w < words; ++w) mix(0);
      sum += none;
      continue;
    }
    const RowSize size = repair_row<kWords>(j, row, left, spread);
    bool same = true;
    for (std::size_t w = 0; w < words; ++w) {
      used[w] |= row[w];
      same = same && row[w] == held[j * words + w];
      mix(row[w]);
    }
    if (size.gpus == 0) {
      sum += none;
      continue;
    }
    // The speed-up depends on the row only through its number of nodes and of GPUs, so few values
    // are ever computed.
    const Entry& what = entry(j, size.nodes, size.gpus);
    sum += same ? what.stays : what.changes;
    speedups += what.speedup;
  }
  const double mean = sum / static_cast<double>(count);
  candidate.value = -value_of_mean(mean);
  // The second objective: speed-up per GPU of the nodes in use, idle GPUs of these included.
  int in_use = 0;
  for (std::size_t w = 0; w < words; ++w) in_use += sum_bytes(filled(used[w]) & capacity_[w]);
  candidate.utility = in_use > 0 ? -speedups / in_use : 0;
  candidate.hash = hash | 1;
}

void AllocationSearch::settle(Candidate& candidate) {
  // Loops over the words of a row vanish where their number is known.
  switch (words_) {
    case 1:
      return settle_rows<1>(candidate);
    case 2:
      return settle_rows<2>(candidate);
    default:
      return settle_rows<0>(candidate);
  }
}

}  // namespace muster
