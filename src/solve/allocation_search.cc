#include "solve/allocation_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

namespace muster {
namespace {

// The published search adds this to every speed-up, so that jobs without GPUs can be compared.
constexpr double kFloor = 1e-3;

}  // namespace

double AllocationSearch::term(double speedup) const {
  // The limit of the power mean for the exponent 0 is the geometric mean; -1 is the harmonic mean,
  // 1 the arithmetic one.
  if (options_.fairness == 0) return std::log(std::max(speedup, kFloor));
  if (options_.fairness == -1) return 1 / (speedup + kFloor);
  return std::pow(speedup + kFloor, options_.fairness);
}

// Each (job, nodes, GPUs) is asked for once in a search: the source may be slow.
void AllocationSearch::learn(std::size_t job, int nodes, int gpus, Entry& entry) {
  entry.speedup = std::max(0.0, source_->speedup(job, nodes, gpus));
  entry.stays = term(entry.speedup * scale_);
  entry.changes = term(entry.speedup * scale_ * (*jobs_)[job].restart_factor);
}

std::size_t AllocationSearch::new_cells() {
  if (vacant_.empty()) {
    vacant_.push_back(cells_.size());
    cells_.resize(cells_.size() + table_words_);
  }
  const std::size_t cells = vacant_.back();
  vacant_.pop_back();
  return cells;
}

void AllocationSearch::prepare(std::span<const int> node_gpus, const std::vector<SearchJob>& jobs) {
  jobs_ = &jobs;
  nodes_ = node_gpus.size();
  node_gpus_.assign(node_gpus.begin(), node_gpus.end());
  words_ = (nodes_ + 7) / 8;
  table_words_ = words_ * jobs.size();
  capacity_.assign(words_, 0);
  int total = 0;
  for (std::size_t n = 0; n < nodes_; ++n) {
    set_byte(capacity_.data(), n, node_gpus[n]);
    total += node_gpus[n];
  }
  scale_ = total > 0 ? static_cast<double>(nodes_) / total : 1;
  held_.assign(table_words_, 0);
  room_.clear();
  briefs_.resize(jobs.size());
  std::size_t entries = 0;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const int most = std::max(1, jobs[j].most);
    briefs_[j] = {jobs[j].least, most, entries};
    const int most_nodes = std::min({most, options_.most_nodes, static_cast<int>(nodes_)});
    entries += static_cast<std::size_t>(most) * static_cast<std::size_t>(most_nodes);
    for (std::size_t n = 0; n < jobs[j].held.size(); ++n) {
      set_byte(held_.data() + j * words_, n, std::min(jobs[j].held[n], node_gpus[n]));
    }
    if (!jobs[j].room.empty()) bound_row(j);
  }
  entries_.assign(entries, Entry{});
  cells_.clear();
  vacant_.clear();
  population_.clear();
  offspring_.clear();
  left_.resize(words_);
  spread_.resize(words_);
  used_.resize(words_);
  count_hits();
}

// Where the job may not use all of a node's GPUs. Most searches have no such job, and no table.
void AllocationSearch::bound_row(std::size_t j) {
  if (room_.empty()) {
    for (std::size_t i = 0; i < jobs_->size(); ++i) {
      room_.insert(room_.end(), capacity_.begin(), capacity_.end());
    }
  }
  for (std::size_t n = 0; n < nodes_; ++n) {
    set_byte(room_.data() + j * words_, n, std::min((*jobs_)[j].room[n], node_gpus_[n]));
  }
}

// The distribution function of a binomial variable: the chances of at most 0, 1, 2 ... hits, if
// each of n jobs is hit with a chance of 1 / n. Mutation draws from it how many jobs get more of a
// node.
void AllocationSearch::count_hits() {
  const auto jobs = static_cast<double>(jobs_->size());
  constexpr std::size_t kMost = 12;  // more are too rare to matter
  hits_.clear();
  double chance = std::pow(1 - 1 / jobs, jobs);
  double sum = chance;
  if (jobs == 1) {
    hits_ = {0.0};
    return;
  }
  for (std::size_t k = 0; k < kMost && static_cast<double>(k) < jobs; ++k) {
    hits_.push_back(sum);
    const auto before = static_cast<double>(k);
    // Ratio of consecutive binomial probabilities, P(k + 1) / P(k).
    chance *= (jobs - before) / (before + 1) / (jobs - 1);
    sum += chance;
  }
}

// Takes a candidate into the population with the table that `fill` writes.
template <typename Fill>
void AllocationSearch::seed(const Fill& fill) {
  Candidate candidate;
  candidate.cells = new_cells();
  Word* cells = cells_of(candidate);
  std::fill(cells, cells + table_words_, 0);
  fill(cells);
  settle(candidate);
  if (add(candidate)) population_.push_back(candidate);
}

// The first population: the survivors of the last search, what jobs hold now, and first fit.
void AllocationSearch::begin() {
  hashes_.assign(std::bit_ceil(8 * static_cast<std::size_t>(options_.population) + 16), 0);
  if (past_count_ > 0 && past_words_ == words_) {
    std::unordered_map<std::uint64_t, std::size_t> past;  // only looked up
    for (std::size_t i = 0; i < past_keys_.size(); ++i) past.emplace(past_keys_[i], i);
    for (std::size_t c = 0; c < past_count_; ++c) {
      seed([&](Word* cells) {
        for (std::size_t j = 0; j < jobs_->size(); ++j) {
          const auto found = past.find((*jobs_)[j].key);
          if (found == past.end()) continue;
          const Word* row = past_cells_.data() + (c * past_keys_.size() + found->second) * words_;
          std::copy(row, row + words_, cells + j * words_);
        }
      });
    }
  }
  // Without survivors the search starts from the present placement, which costs no restart.
  if (population_.empty() || options_.first_fit) {
    seed([this](Word* cells) { std::copy(held_.begin(), held_.end(), cells); });
  }
  if (options_.first_fit) {
    seed([this](Word* cells) {
      std::vector<int> left = node_gpus_;
      for (std::size_t j = 0; j < jobs_->size(); ++j) fit_first(j, cells + j * words_, left);
    });
  }
  rank(population_);
}

// Gives the job its least: from the tightest node that holds it all, else from the one with most.
void AllocationSearch::fit_first(std::size_t j, Word* row, std::vector<int>& left) const {
  const SearchJob& job = (*jobs_)[j];
  const auto room_on = [&](std::size_t n) {
    return job.room.empty() ? left[n] : std::min(left[n], job.room[n]);
  };
  int wanted = std::max(1, job.least);
  while (wanted > 0) {
    std::size_t best = nodes_;
    for (std::size_t n = 0; n < nodes_; ++n) {
      const int room = room_on(n);
      if (room == 0 || byte(row, n) > 0) continue;
      if (best == nodes_ ||
          (left[best] < wanted ? left[n] > left[best] : room >= wanted && left[n] < left[best])) {
        best = n;
      }
    }
    if (best == nodes_) break;
    // Best fit: the tightest node that suffices leaves large free blocks for large jobs.
    const int given = std::min(room_on(best), wanted);
    set_byte(row, best, given);
    left[best] -= given;
    wanted -= given;
  }
}

// Takes the candidate in unless its table is there already, so that the population stays diverse.
// Tables are compared by 64-bit hashes, with open addressing and linear probing.
bool AllocationSearch::add(Candidate candidate) {
  const std::size_t mask = hashes_.size() - 1;
  for (std::size_t at = (candidate.hash >> 20) & mask;; at = (at + 1) & mask) {
    if (hashes_[at] == candidate.hash) {
      vacant_.push_back(candidate.cells);
      return false;
    }
    if (hashes_[at] != 0) continue;
    hashes_[at] = candidate.hash;
    return true;
  }
}

// Rows are kept by the keys of their jobs: the next search has other jobs, in another order.
void AllocationSearch::keep_front() {
  past_keys_.clear();
  for (const SearchJob& job : *jobs_) past_keys_.push_back(job.key);
  past_cells_.clear();
  past_words_ = words_;
  past_count_ = 0;
  for (const Candidate& candidate : population_) {
    // Only non-dominated candidates are worth a second life.
    if (candidate.front != 0) continue;
    const Word* cells = cells_of(candidate);
    past_cells_.insert(past_cells_.end(), cells, cells + table_words_);
    ++past_count_;
  }
}

bool AllocationSearch::worth_breeding(double bound) {
  if (options_.patience == 0) return true;
  constexpr double kLittle = 1e-3;
  double best = -population_.front().value;
  for (const Candidate& candidate : population_) best = std::max(best, -candidate.value);
  // The bound proves that nothing noticeably better exists.
  if (best * (1 + kLittle) >= bound) return false;
  bests_.push_back(best);
  const auto patience = static_cast<std::size_t>(options_.patience);
  if (bests_.size() <= patience) return true;
  return best > (1 + kLittle) * bests_[bests_.size() - 1 - patience];
}

// The main loop of NSGA-II (Deb and others 2002, section III): breed, then let the best of parents
// and children survive. The best of the first objective is never lost, as it is in the first front.
const std::vector<std::vector<int>>& AllocationSearch::run(std::span<const int> node_gpus,
                                                           const std::vector<SearchJob>& jobs,
                                                           SpeedupSource& source) {
  answer_.assign(jobs.size(), std::vector<int>(node_gpus.size(), 0));
  value_ = 0;
  gap_ = 0;
  if (jobs.empty() || node_gpus.empty()) return answer_;
  source_ = &source;
  prepare(node_gpus, jobs);
  begin();
  const double most = options_.patience > 0 ? bound() : 0;
  bests_.clear();
  for (int generation = 1; generation < options_.generations && worth_breeding(most);
       ++generation) {
    breed();
    if (offspring_.empty()) break;
    survive();
  }
  const auto best = std::min_element(
      population_.begin(), population_.end(), [](const Candidate& a, const Candidate& b) {
        return a.front != b.front ? a.front < b.front : a.value < b.value;
      });
  value_ = -best->value;
  gap_ = options_.patience > 0 && value_ > 0 ? std::max(0.0, most / value_ - 1) : 0;
  const Word* cells = cells_of(*best);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    for (std::size_t n = 0; n < node_gpus.size(); ++n) answer_[j][n] = byte(cells + j * words_, n);
  }
  keep_front();
  jobs_ = nullptr;
  source_ = nullptr;
  return answer_;
}

}  // namespace muster
