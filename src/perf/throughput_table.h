// Measured training steps per second, by GPU type, job type and number of GPUs, alone and in pairs:
// the JSON tables that Gavel publishes.
//
//   {"v100": {"('ResNet-18 (batch size 16)', 1)": {
//       "null": 28.2,
//       "('LM (batch size 5)', 1)": [12.3, 41.0]}}}
//
// A key is a job type with the number of GPUs it runs on. "null" is its rate alone; every other
// member has the two rates of a co-located pair: its own, then the other job's. A rate of zero
// means that it cannot run there, usually for lack of memory.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

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

  static Result<ThroughputTable> load(const std::string& path);
  // `name` stands for the file in messages.
  static Result<ThroughputTable> parse(std::string_view json, const std::string& name);

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
  friend class ThroughputReader;
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
