// The estimator of Helios' QSSF, quasi-shortest service first (Hu et al., SC'21): the mean of what
// the same user ran before under the same or a similar name (a rolling estimate), blended with
// gradient-boosted trees on what is known at submission (learn/boosted.h). Names are compared with
// all that are known, O(names x length^2) for a new one; answers are remembered until another name
// comes.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/symbols.h"
#include "learn/boosted.h"
#include "model/job_spec.h"

namespace muster {

// How alike two names are, from 0 to 1: twice the characters in matching blocks over all
// characters; the longest common block is matched first, then what lies before and behind it
// (Ratcliff and Obershelp, 1988).
double name_similarity(std::string_view a, std::string_view b);

class HistoryEstimator {
 public:
  void add(std::string_view name, Symbol user, int gpus, Seconds duration);

  struct Answer {
    Seconds seconds = 0;
    bool guessed = false;  // no name was near: the mean of the user's jobs, or of all
  };
  // The two nearest names count, where they are at least 0.6 alike; only the name itself, where it
  // is known. Jobs of the user go before those of others, and among them those of as many GPUs.
  Answer estimate(std::string_view name, Symbol user, int gpus) const;
  bool empty() const { return all_.count == 0; }

 private:
  struct Mean {
    double sum = 0;
    double count = 0;
    void add(double value) {
      sum += value;
      count += 1;
    }
    void add(const Mean& other) {
      sum += other.sum;
      count += other.count;
    }
    double value() const { return sum / count; }
  };
  struct OfUser {
    Mean all;
    std::map<int, Mean> by_gpus;
  };
  std::vector<std::string> nearest(std::string_view name) const;

  std::map<std::string, Mean, std::less<>> names_;
  std::map<Symbol, Mean> users_;
  std::map<std::pair<Symbol, std::string>, OfUser> of_user_;
  Mean all_;
  // Names that were looked up, as long as no new name came.
  mutable std::map<std::string, std::vector<std::string>, std::less<>> found_;
};

// Nine parts of the trees' answer and one of the history's; the history's alone where the trees'
// makes no sense.
double blend_estimates(double from_history, double from_trees);

struct HistoryOptions {
  BoostedOptions trees;
  double floor = 1;        // no estimate below this many seconds
  std::int64_t epoch = 0;  // seconds since 1970 of the trace's second 0
  Seconds retrain_every = 7 * 86400;
  std::size_t names_kept = 100;  // the most frequent names; others join one of them
  double name_distance = 0.4;    // if their edit distance is at most this part of the longer one
};

// An estimate for each of `jobs`, which must be in order of submission. The trees are trained on
// `history`, and every period anew with the jobs before; a job counts as history once it could have
// ended. The model of a job stands for its name, which traces rarely have.
Result<std::vector<double>> history_estimates(std::span<const JobSpec> history,
                                              std::span<const JobSpec> jobs, const Symbols& symbols,
                                              const HistoryOptions& options);

}  // namespace muster
