// A genetic search for how many GPUs each job should have on which node, where nothing is known but
// a number for each (job, nodes, GPUs).
//
// Source: Pollux (OSDI 2021), section 4.2, which uses NSGA-II (Deb and others, "A fast and elitist
// multiobjective genetic algorithm", 2002) with two objectives. A candidate is a table of GPUs,
// jobs by nodes. The first objective is a power mean of the jobs' speed-ups (with power -1, the
// slow ones count most), each lessened where the job would have to restart; the second is the
// speed-up per GPU in use. Each generation selects parents by tournament, crosses and mutates them,
// repairs the children, and keeps the first fronts of parents and children together. The answer is
// the best in the first objective. The first front is kept: the next search, for nearly the same
// jobs, begins with it.
//
// Invariant: every candidate of the population is legal, because settle() repairs it: no node gives
// more than it has, no job exceeds its bounds, and no two jobs that span nodes share one.
//
// Eight nodes share a machine word, a byte each (solve/packed_bytes.h), so that a row of GPUs is
// handled in a few instructions. Time: O(population * generations * jobs * nodes / 8).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/archive.h"
#include "base/random.h"

namespace muster {

// Where the numbers come from. A speed-up of 1 is what the job would do with a fair part of the
// cluster.
class SpeedupSource {
 public:
  virtual ~SpeedupSource() = default;
  virtual double speedup(std::size_t job, int nodes, int gpus) = 0;
};

struct SearchJob {
  std::uint64_t key = 0;  // by which the next search knows it again
  int least = 0;          // fewer GPUs are as good as none
  int most = 1;
  double restart_factor = 1;  // its speed-up is multiplied by this if its row changes
  std::vector<int> held;      // GPUs it has now, by node
  std::vector<int> room;      // the most it may have there; empty: whatever the node has
};

struct SearchOptions {
  int population = 100;
  int generations = 100;
  double fairness = -1;    // power of the mean; 0: the geometric mean
  int most_nodes = 16;     // that one job may be spread over
  bool first_fit = false;  // begin also with every job at its least, one after the other
  // Stop once the best has become less than a thousandth better in this many generations, or is
  // within a thousandth of the bound; 0: breed them all, and compute no bound.
  int patience = 0;
};

class AllocationSearch {
 public:
  AllocationSearch(const SearchOptions& options, std::uint64_t seed)
      : options_(options), random_(seed, "allocation search") {}

  // The best table: GPUs by job and node. Jobs come first that should be served first where GPUs
  // are short. Nodes have at most 64 GPUs.
  const std::vector<std::vector<int>>& run(std::span<const int> node_gpus,
                                           const std::vector<SearchJob>& jobs,
                                           SpeedupSource& source);
  // The first objective of that table.
  double value() const { return value_; }
  // What a search takes over from the one before.
  void checkpoint(Archive& archive) {
    archive.value(random_);
    archive.list(past_keys_);
    archive.list(past_cells_);
    archive.value(past_words_);
    archive.value(past_count_);
  }
  // With patience: how much better than that another table could be at most, as a part of it.
  double gap() const { return gap_; }

 private:
  using Word = std::uint64_t;
  struct Candidate {
    double value = 0;  // objectives, to be minimised
    double utility = 0;
    double distance = 0;  // crowding distance
    int front = 0;
    std::uint64_t hash = 0;
    std::size_t cells = 0;  // where its table lives
  };
  // What a row contributes, by nodes and GPUs; filled on demand.
  struct Entry {
    double speedup = -1;
    double stays = 0;    // to the power mean, if the row is as it was
    double changes = 0;  // if it is not
  };
  // A job as the search looks at it: all that is read for every row, close together.
  struct Brief {
    int least = 0;
    int most = 1;
    std::size_t entries = 0;  // where those of one node begin; further nodes follow
  };

  struct RowSize {
    int nodes = 0;
    int gpus = 0;
  };

  struct HullPoint {
    int gpus = 0;
    double cost = 0;
  };

  // An upper bound of value() for any table; it needs prepare().
  double bound();
  void list_hull(std::size_t job);
  double cost(double term) const;
  double value_of_mean(double mean) const;
  // Whether to breed on, as `patience` has it.
  bool worth_breeding(double bound);

  void prepare(std::span<const int> node_gpus, const std::vector<SearchJob>& jobs);
  void bound_row(std::size_t job);
  void begin();
  template <typename Fill>
  void seed(const Fill& fill);
  void fit_first(std::size_t job, Word* row, std::vector<int>& left) const;
  void breed();
  const Candidate& tournament();
  bool beats(const Candidate& a, const Candidate& b);
  void cross(const Candidate& a, const Candidate& b, Word* first, Word* second);
  void mutate(Word* cells);
  Word one_in_ten(std::size_t bits);
  void raise_some(Word* cells);
  void count_hits();
  // Makes the table legal and values it.
  void settle(Candidate& candidate);
  // Rows of so many words; 0: of any number.
  template <std::size_t kWords>
  void settle_rows(Candidate& candidate);
  template <std::size_t kWords>
  RowSize repair_row(std::size_t job, Word* row, Word* left, Word* spread);
  static RowSize size_of_row(const Word* row, std::size_t words);
  void trim(Word* row, int most, int most_nodes);
  bool add(Candidate candidate);
  void survive();
  void rank(std::vector<Candidate>& all);
  static void measure_crowding(std::span<Candidate> front);
  void keep_front();
  const Entry& entry(std::size_t job, int nodes, int gpus) {
    const Brief& brief = briefs_[job];
    const auto at = static_cast<std::size_t>((nodes - 1) * brief.most + gpus - 1);
    Entry& entry = entries_[brief.entries + at];
    if (entry.speedup < 0) learn(job, nodes, gpus, entry);
    return entry;
  }
  void learn(std::size_t job, int nodes, int gpus, Entry& entry);
  double term(double speedup) const;

  Word* cells_of(const Candidate& candidate) { return cells_.data() + candidate.cells; }
  std::size_t new_cells();
  static int byte(const Word* row, std::size_t node) {
    return static_cast<int>((row[node / 8] >> (8 * (node % 8))) & 0xff);
  }
  static void set_byte(Word* row, std::size_t node, int value) {
    const auto shift = 8 * (node % 8);
    row[node / 8] = (row[node / 8] & ~(Word{0xff} << shift)) | (static_cast<Word>(value) << shift);
  }

  SearchOptions options_;
  Random random_;

  // Of the present search.
  const std::vector<SearchJob>* jobs_ = nullptr;
  SpeedupSource* source_ = nullptr;
  std::size_t nodes_ = 0;
  std::size_t words_ = 0;  // of a row
  std::size_t table_words_ = 0;
  double scale_ = 1;  // a node's worth of GPUs gives a speed-up of 1
  std::vector<int> node_gpus_;
  std::vector<Word> capacity_;  // a row
  std::vector<Word> held_;      // a table
  std::vector<Word> room_;      // a table, if some job may not use all; else empty
  std::vector<Brief> briefs_;
  std::vector<Entry> entries_;
  std::vector<Word> cells_;  // tables, recycled
  std::vector<std::size_t> vacant_;
  std::vector<Candidate> population_;
  std::vector<Candidate> offspring_;
  std::vector<std::uint64_t> hashes_;  // of both, an open hash table; 0: vacant
  std::vector<Word> left_;             // rows, scratch
  std::vector<Word> spread_;
  std::vector<Word> used_;
  std::vector<std::uint32_t> there_;  // jobs with GPUs on a node
  std::vector<double> hits_;
  std::vector<std::size_t> order_;
  std::vector<std::pair<double, double>> tails_;
  std::vector<std::vector<int>> answer_;
  double value_ = 0;
  double gap_ = 0;
  std::vector<HullPoint> hull_;                   // of one job
  std::vector<std::pair<double, int>> segments_;  // slope and GPUs
  std::vector<double> bests_;                     // by generation

  // Survivors of the last search.
  std::vector<std::uint64_t> past_keys_;
  std::vector<Word> past_cells_;
  std::size_t past_words_ = 0;
  std::size_t past_count_ = 0;
};

}  // namespace muster
