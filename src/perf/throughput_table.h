// Measured training steps per second, by GPU type, job type and number of GPUs, alone and in pairs.
//
// A key is a job type with the number of GPUs it runs on. It has a rate alone, and two rates for
// each co-located pair: its own, then the other job's. A rate of zero means that it cannot run
// there, usually for lack of memory. workload/perf/throughput_json.h reads such tables.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {

class ThroughputTable {
 public:
  static constexpr int kUnknown = -1;

  struct Key {
    std::string job_type;
    int gpus = 1;
  };
  struct Pair {
    double mine = 0;
    double other = 0;
  };

  // Nothing is known at first. No type and no key may come twice.
  ThroughputTable(std::vector<std::string> types, std::vector<Key> keys);
  void set_alone(int type, int key, double steps_per_second) {
    alone_[at(type, key)] = steps_per_second;
    known_[at(type, key)] = 1;
  }
  void set_pair(int type, int mine, int other, Pair steps_per_second) {
    pairs_[at(type, mine) * keys_.size() + static_cast<std::size_t>(other)] = steps_per_second;
  }

  const std::vector<std::string>& types() const { return types_; }
  const std::vector<Key>& keys() const { return keys_; }
  // Positions in the lists above; kUnknown where the table has no such entry.
  int type(std::string_view name) const;
  int key(std::string_view job_type, int gpus) const;

  // Steps per second of all GPUs of the job together; 0 where it cannot run or nothing is known.
  double alone(int type, int key) const { return alone_[at(type, key)]; }
  // Whether the type has an entry for the key at all.
  bool known(int type, int key) const { return known_[at(type, key)] != 0; }
  Pair pair(int type, int mine, int other) const {
    return pairs_[at(type, mine) * keys_.size() + static_cast<std::size_t>(other)];
  }

 private:
  std::size_t at(int type, int key) const {
    return static_cast<std::size_t>(type) * keys_.size() + static_cast<std::size_t>(key);
  }

  std::vector<std::string> types_;
  std::vector<Key> keys_;
  std::map<std::pair<std::string, int>, int, std::less<>> index_;
  std::vector<double> alone_;
  std::vector<char> known_;
  std::vector<Pair> pairs_;
};

}  // namespace muster
