// Which jobs are interleaved: jobs of equal GPU count are paired by maximum-weight matching on
// the efficiency of the pair, then the pairs, for as many rounds as the largest group needs. It
// stops as soon as everything fits. Without matching, neighbours in the queue are grouped.
//
// Source: Muri (SIGCOMM'22). Groups are made where and in the order in which they come out of the
// matching, bucket by bucket, not by efficiency.
#pragma once

#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "base/archive.h"
#include "base/random.h"
#include "model/plan.h"
#include "perf/interleave.h"
#include "solve/matching.h"

namespace muster {

struct GroupingOptions {
  int largest = kMaxGroup;      // jobs in a group
  bool matching = true;         // by efficiency; otherwise neighbours in the queue
  double least_efficiency = 0;  // per job: a group must keep this part of one resource busy
  double memory_mb = 0;         // of a GPU: what a group must fit into; 0: not checked
  double noise = 0;             // relative error of the stages it goes by, at most
  std::uint64_t seed = 1;       // of that error
};

class GroupRounds {
 public:
  struct Member {
    Slot slot{};
    int profile = 0;  // from profile()
  };
  struct Group {
    std::array<Member, kMaxGroup> members{};
    int size = 0;
    int bucket = 0;
    int sequence = -1;  // of its members' profiles, where it is known
  };
  struct Bucket {
    int gpus = 0;
    std::vector<Member> members;
  };

  explicit GroupRounds(const GroupingOptions& options);

  // Jobs with equal stages and memory have equal profiles. Call with the rule before anything else.
  void use(const Interleaving& rule);
  int profile(const JobSpec& job, double memory_mb = 0);

  // Groups in order; `needed` is what the members ask for one by one, `capacity` the GPUs there
  // are.
  const std::vector<Group>& plan(const std::vector<Bucket>& buckets, long long needed,
                                 long long capacity);

  // Whether the group is slower than its members one after another, at the best order of stages.
  bool slower_than_serial(const Group& group);

  // The profiles seen so far, and the numbers of their groups: weights are computed again.
  void checkpoint(Archive& archive);

 private:
  // A group as the sequence of its members' profiles, in order: equal sequences have equal weights.
  struct Sequence {
    std::array<int, kMaxGroup> profiles{};
    int size = 0;
    friend auto operator<=>(const Sequence&, const Sequence&) = default;
  };
  struct Entry {
    int first = 0;
    int second = -1;  // -1: alone
  };

  int number_of(const Sequence& sequence);
  int sequence_of(const Group& group);
  int joined(int a, int b);
  Sequence chained(int a, int b) const;
  double weight(int a, int b);
  void match_range(std::size_t first, std::size_t last);
  void merge(const std::vector<Bucket>& buckets, long long& needed, long long capacity);
  void group_neighbours(const std::vector<Bucket>& buckets, long long needed, long long capacity);
  std::array<const JobSpec*, kMaxGroup> specs_of(const Sequence& sequence) const;
  bool possible(const Sequence& sequence) const;

  GroupingOptions options_;
  Interleaving rule_;
  Matcher matcher_;
  Random random_;
  std::map<std::tuple<double, double, StageTimes>, int> profile_of_;
  std::vector<JobSpec> profiles_;  // one job of each
  std::vector<double> memory_;     // of each, on a GPU
  std::map<Sequence, int> sequences_;
  std::vector<Sequence> sequence_;
  std::vector<int> single_;                   // by profile: the sequence of it alone; -1: none yet
  std::vector<std::vector<int>> joined_;      // by sequences: the one of both; -1: none yet
  std::vector<std::vector<double>> weights_;  // by sequences; negative: not known yet
  std::vector<signed char> slower_;           // by sequence; -1: not known yet
  std::vector<Group> groups_;
  std::vector<Group> next_;
  std::vector<int> dense_;  // by sequence: its number in this graph
  std::vector<int> kinds_;  // of each vertex
  std::vector<int> used_;   // sequences in this graph
  std::vector<double> table_;
  std::vector<Entry> entries_;
};

}  // namespace muster
