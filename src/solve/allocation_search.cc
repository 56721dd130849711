#include "solve/allocation_search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace muster {
namespace {

using Word = std::uint64_t;

// Eight bytes at once. Values stay below 128, so that the top bit of each byte is free.
constexpr Word kHigh = 0x8080808080808080U;
constexpr Word kOnes = 0x0101010101010101U;

// 0xff in every byte that is not zero.
Word filled(Word x) {
  const Word high = (((x & ~kHigh) + ~kHigh) | x) & kHigh;
  return (high >> 7) * 0xff;
}
int count_filled(Word x) {
  // The sum of the bytes, which are 0 or 1; counting bits takes long where there is no instruction.
  return static_cast<int>((((((x & ~kHigh) + ~kHigh) | x) & kHigh) >> 7) * kOnes >> 56);
}
// Whether every byte of `a` is at least that of `b`.
bool covers(Word a, Word b) { return ((((a | kHigh) - b) & kHigh) ^ kHigh) == 0; }
int sum_bytes(Word x) {
  constexpr Word kEven = 0x00ff00ff00ff00ffU;
  const Word pairs = (x & kEven) + ((x >> 8) & kEven);
  return static_cast<int>((pairs * 0x0001000100010001U) >> 48);
}
// The smaller of each pair of bytes.
Word lesser(Word a, Word b) {
  const Word not_less = ((a | kHigh) - b) & kHigh;  // a >= b
  const Word choose_b = (not_less >> 7) * 0xff;
  return (b & choose_b) | (a & ~choose_b);
}

// The published search adds this to every speed-up, so that jobs without GPUs can be compared.
constexpr double kFloor = 1e-3;

constexpr double kCrossing = 0.9;  // chance that two parents exchange rows

}  // namespace

double AllocationSearch::term(double speedup) const {
  if (options_.fairness == 0) return std::log(std::max(speedup, kFloor));
  if (options_.fairness == -1) return 1 / (speedup + kFloor);
  return std::pow(speedup + kFloor, options_.fairness);
}

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
    if (jobs[j].room.empty()) continue;
    if (room_.empty()) {
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        room_.insert(room_.end(), capacity_.begin(), capacity_.end());
      }
    }
    for (std::size_t n = 0; n < nodes_; ++n) {
      set_byte(room_.data() + j * words_, n, std::min(jobs[j].room[n], node_gpus[n]));
    }
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

// The chances of at most 0, 1, 2 ... hits, if each job is hit with a chance of one in their number.
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
    chance *= (jobs - before) / (before + 1) / (jobs - 1);
    sum += chance;
  }
}

// Takes GPUs away at random until the job has no more than it may.
void AllocationSearch::trim(Word* row, int most, int most_nodes) {
  order_.clear();
  for (std::size_t n = 0; n < nodes_; ++n) {
    if (byte(row, n) > 0) order_.push_back(n);
  }
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
  const Word* const room = room_.empty() ? nullptr : room_.data();
  double sum = 0;
  double speedups = 0;
  std::uint64_t hash = 0x9e3779b97f4a7c15U;
  const auto mix = [&hash](Word word) {
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
    const Brief& job = briefs_[j];
    int nodes = 0;
    int gpus = 0;
    const auto measure = [&] {
      nodes = 0;
      gpus = 0;
      for (std::size_t w = 0; w < words; ++w) {
        nodes += count_filled(row[w]);
        gpus += sum_bytes(row[w]);
      }
    };
    if (room != nullptr) {
      for (std::size_t w = 0; w < words; ++w) row[w] = lesser(row[w], room[j * words + w]);
    }
    measure();
    if (nodes > 1) {
      // One job that spans nodes per node: two would share its network.
      Word taken_before = 0;
      for (std::size_t w = 0; w < words; ++w) {
        const Word taken = filled(row[w]);
        taken_before |= taken & spread[w];
        row[w] &= ~spread[w];
        spread[w] |= taken;
      }
      if (taken_before != 0) measure();
    }
    if (gpus > job.most || nodes > options_.most_nodes) {
      trim(row, job.most, options_.most_nodes);
      measure();
    }
    bool fits = true;
    for (std::size_t w = 0; w < words; ++w) fits = fits && covers(left[w], row[w]);
    for (std::size_t w = 0; w < words; ++w) {
      if (!fits) row[w] = lesser(row[w], left[w]);
      left[w] -= row[w];
    }
    if (!fits) measure();
    if (gpus < job.least) {
      for (std::size_t w = 0; w < words; ++w) {
        left[w] += row[w];
        row[w] = 0;
      }
      gpus = 0;
    }
    bool same = true;
    for (std::size_t w = 0; w < words; ++w) {
      used[w] |= row[w];
      same = same && row[w] == held[j * words + w];
      mix(row[w]);
    }
    if (gpus == 0) {
      sum += none;
      continue;
    }
    const Entry& what = entry(j, nodes, gpus);
    sum += same ? what.stays : what.changes;
    speedups += what.speedup;
  }
  const double mean = sum / static_cast<double>(count);
  candidate.value =
      -(options_.fairness == 0 ? std::exp(mean) : std::pow(mean, 1 / options_.fairness));
  int in_use = 0;
  for (std::size_t w = 0; w < words; ++w) in_use += sum_bytes(filled(used[w]) & capacity_[w]);
  candidate.utility = in_use > 0 ? -speedups / in_use : 0;
  candidate.hash = hash | 1;
}

// Takes the candidate in unless its table is there already.
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

void AllocationSearch::begin() {
  hashes_.assign(std::bit_ceil(8 * static_cast<std::size_t>(options_.population) + 16), 0);
  const auto take = [this](auto fill) {
    Candidate candidate;
    candidate.cells = new_cells();
    Word* cells = cells_of(candidate);
    std::fill(cells, cells + table_words_, 0);
    fill(cells);
    settle(candidate);
    if (add(candidate)) population_.push_back(candidate);
  };
  if (past_count_ > 0 && past_words_ == words_) {
    std::unordered_map<std::uint64_t, std::size_t> past;  // only looked up
    for (std::size_t i = 0; i < past_keys_.size(); ++i) past.emplace(past_keys_[i], i);
    for (std::size_t c = 0; c < past_count_; ++c) {
      take([&](Word* cells) {
        for (std::size_t j = 0; j < jobs_->size(); ++j) {
          const auto found = past.find((*jobs_)[j].key);
          if (found == past.end()) continue;
          const Word* row = past_cells_.data() + (c * past_keys_.size() + found->second) * words_;
          std::copy(row, row + words_, cells + j * words_);
        }
      });
    }
  }
  if (population_.empty() || options_.first_fit) {
    take([this](Word* cells) { std::copy(held_.begin(), held_.end(), cells); });
  }
  if (options_.first_fit) {
    take([this](Word* cells) {
      std::vector<int> left = node_gpus_;
      for (std::size_t j = 0; j < jobs_->size(); ++j) {
        const SearchJob& job = (*jobs_)[j];
        int wanted = std::max(1, job.least);
        while (wanted > 0) {
          // The tightest node that holds it all, else the one with most.
          std::size_t best = nodes_;
          for (std::size_t n = 0; n < nodes_; ++n) {
            const int room = job.room.empty() ? left[n] : std::min(left[n], job.room[n]);
            if (room == 0 || byte(cells + j * words_, n) > 0) continue;
            if (best == nodes_ || (left[best] < wanted ? left[n] > left[best]
                                                       : room >= wanted && left[n] < left[best])) {
              best = n;
            }
          }
          if (best == nodes_) break;
          const int room = job.room.empty() ? left[best] : std::min(left[best], job.room[best]);
          const int given = std::min(room, wanted);
          set_byte(cells + j * words_, best, given);
          left[best] -= given;
          wanted -= given;
        }
      }
    });
  }
  rank(population_);
}

bool AllocationSearch::beats(const Candidate& a, const Candidate& b) {
  const bool a_no_worse = a.value <= b.value && a.utility <= b.utility;
  const bool b_no_worse = b.value <= a.value && b.utility <= a.utility;
  if (a_no_worse != b_no_worse) return a_no_worse;
  if (a.distance != b.distance) return a.distance > b.distance;
  return (random_.next() >> 63) != 0;
}

const AllocationSearch::Candidate& AllocationSearch::tournament() {
  const auto count = static_cast<std::uint64_t>(population_.size());
  const Candidate& a = population_[random_.below(count)];
  const Candidate& b = population_[random_.below(count)];
  return beats(a, b) ? a : b;
}

void AllocationSearch::cross(const Candidate& a, const Candidate& b, Word* first, Word* second) {
  std::copy(cells_of(a), cells_of(a) + table_words_, first);
  std::copy(cells_of(b), cells_of(b) + table_words_, second);
  if (!random_.chance(kCrossing)) return;
  const std::size_t rows = random_.below(jobs_->size());
  std::swap_ranges(first, first + rows * words_, second);
}

// Bits that are set with a chance of one in ten; at most so many.
AllocationSearch::Word AllocationSearch::one_in_ten(std::size_t bits) {
  constexpr unsigned kTenth =
      410;  // of 4096: its binary digits, from the last, choose "and" or "or"
  constexpr int kDigits = 12;
  Word set = 0;
  for (int i = 0; i < kDigits; ++i) {
    const Word draw = random_.next();
    set = (kTenth >> i & 1U) != 0 ? set | draw : set & draw;
  }
  return bits >= 64 ? set : set & ((Word{1} << bits) - 1);
}

void AllocationSearch::mutate(Word* cells) {
  const std::size_t count = jobs_->size();
  // One row in ten goes back to what the job holds; in another, some of its nodes are given up.
  for (std::size_t j = 0; j < count; j += 64) {
    for (Word hit = one_in_ten(count - j); hit != 0; hit &= hit - 1) {
      const std::size_t i = j + static_cast<std::size_t>(std::countr_zero(hit));
      std::copy(held_.data() + i * words_, held_.data() + (i + 1) * words_, cells + i * words_);
    }
    for (Word hit = one_in_ten(count - j); hit != 0; hit &= hit - 1) {
      const std::size_t i = j + static_cast<std::size_t>(std::countr_zero(hit));
      for (std::size_t w = 0; w < words_; ++w) {
        Word& word = cells[i * words_ + w];
        for (Word there = filled(word) & kOnes; there != 0; there &= there - 1) {
          const Word lowest = (there & (~there + 1)) * 0xff;
          if (random_.chance(0.1)) word &= ~lowest;
        }
      }
    }
  }
  raise_some(cells);
}

// Where a node has GPUs left, about one job gets more of them, and about one of those that are
// there.
void AllocationSearch::raise_some(Word* cells) {
  const std::size_t count = jobs_->size();
  for (std::size_t w = 0; w < words_; ++w) {
    Word sum = 0;
    for (const Word* word = cells + w; word < cells + count * words_; word += words_) sum += *word;
    used_[w] = sum;
  }
  for (std::size_t n = 0; n < nodes_; ++n) {
    if (byte(used_.data(), n) >= node_gpus_[n]) continue;
    const auto raise = [&](std::size_t j) {
      const int now = byte(cells + j * words_, n);
      const auto choices = static_cast<std::uint64_t>(node_gpus_[n] - now) + 1;
      set_byte(cells + j * words_, n, now + static_cast<int>(random_.below(choices)));
    };
    there_.clear();
    const Word column = Word{0xff} << (8 * (n % 8));
    const Word* word = cells + n / 8;
    for (std::size_t j = 0; j < count; ++j, word += words_) {
      if ((*word & column) != 0) there_.push_back(static_cast<std::uint32_t>(j));
    }
    for (const std::uint32_t j : there_) {
      if (random_.below(there_.size()) == 0) raise(j);
    }
    // Each of all jobs with a chance of one in their number: how many, then who.
    const double draw = random_.unit();
    for (const double up_to : hits_) {
      if (draw < up_to) break;
      raise(random_.below(count));
    }
  }
}

void AllocationSearch::breed() {
  const auto wanted = static_cast<std::size_t>(options_.population);
  // Where few tables are possible, most children are there already.
  constexpr int kFruitless = 3;
  int fruitless = 0;
  while (offspring_.size() < wanted && fruitless < kFruitless) {
    const std::size_t before = offspring_.size();
    const std::size_t pairs = (wanted - before + 1) / 2;
    for (std::size_t i = 0; i < pairs; ++i) {
      Candidate children[2];
      for (Candidate& child : children) child.cells = new_cells();
      const Candidate& mother = tournament();
      const Candidate& father = tournament();
      cross(mother, father, cells_of(children[0]), cells_of(children[1]));
      for (Candidate& child : children) {
        if (offspring_.size() == wanted) {
          vacant_.push_back(child.cells);
          continue;
        }
        mutate(cells_of(child));
        settle(child);
        if (add(child)) offspring_.push_back(child);
      }
    }
    fruitless = offspring_.size() == before ? fruitless + 1 : 0;
  }
}

// Sorts into fronts: nobody in one is beaten in both aims by another of it.
void AllocationSearch::rank(std::vector<Candidate>& all) {
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    if (a.value != b.value) return a.value < b.value;
    return a.utility != b.utility ? a.utility < b.utility : a.hash < b.hash;
  });
  tails_.clear();
  for (Candidate& one : all) {
    const auto free = std::partition_point(tails_.begin(), tails_.end(), [&](const auto& tail) {
      const bool equal = tail.first == one.value && tail.second == one.utility;
      return tail.second <= one.utility && !equal;
    });
    one.front = static_cast<int>(free - tails_.begin());
    if (free == tails_.end()) {
      tails_.emplace_back(one.value, one.utility);
    } else {
      *free = {one.value, one.utility};
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& a, const Candidate& b) { return a.front < b.front; });
  constexpr double kFar = std::numeric_limits<double>::infinity();
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && all[end].front == all[begin].front) ++end;
    const double values = all[end - 1].value - all[begin].value;
    const double utilities = all[begin].utility - all[end - 1].utility;
    std::size_t last = begin;  // with other aims than the present one
    for (std::size_t i = begin; i < end; ++i) {
      const bool twin =
          i > begin && all[i].value == all[i - 1].value && all[i].utility == all[i - 1].utility;
      if (twin) {
        all[i].distance = 0;
        continue;
      }
      std::size_t next = i + 1;
      while (next < end && all[next].value == all[i].value && all[next].utility == all[i].utility) {
        ++next;
      }
      if (i == begin || next == end) {
        all[i].distance = kFar;
      } else {
        all[i].distance = 0;
        if (values > 0) all[i].distance += (all[next].value - all[last].value) / values;
        if (utilities > 0) all[i].distance += (all[last].utility - all[next].utility) / utilities;
      }
      last = i;
    }
  }
}

void AllocationSearch::survive() {
  population_.insert(population_.end(), offspring_.begin(), offspring_.end());
  offspring_.clear();
  rank(population_);
  const auto most = static_cast<std::size_t>(options_.population);
  if (population_.size() > most) {
    // Of the front that does not fit, those farthest from their neighbours.
    const int front = population_[most - 1].front;
    const auto begin = std::find_if(population_.begin(), population_.end(),
                                    [&](const Candidate& c) { return c.front == front; });
    const auto end = std::find_if(begin, population_.end(),
                                  [&](const Candidate& c) { return c.front != front; });
    std::stable_sort(
        begin, end, [](const Candidate& a, const Candidate& b) { return a.distance > b.distance; });
    for (std::size_t i = most; i < population_.size(); ++i) {
      vacant_.push_back(population_[i].cells);
    }
    population_.resize(most);
  }
  std::fill(hashes_.begin(), hashes_.end(), 0);
  for (const Candidate& candidate : population_) add(candidate);
}

void AllocationSearch::keep_front() {
  past_keys_.clear();
  for (const SearchJob& job : *jobs_) past_keys_.push_back(job.key);
  past_cells_.clear();
  past_words_ = words_;
  past_count_ = 0;
  for (const Candidate& candidate : population_) {
    if (candidate.front != 0) continue;
    const Word* cells = cells_of(candidate);
    past_cells_.insert(past_cells_.end(), cells, cells + table_words_);
    ++past_count_;
  }
}

const std::vector<std::vector<int>>& AllocationSearch::run(std::span<const int> node_gpus,
                                                           const std::vector<SearchJob>& jobs,
                                                           SpeedupSource& source) {
  answer_.assign(jobs.size(), std::vector<int>(node_gpus.size(), 0));
  value_ = 0;
  if (jobs.empty() || node_gpus.empty()) return answer_;
  source_ = &source;
  prepare(node_gpus, jobs);
  begin();
  for (int generation = 1; generation < options_.generations; ++generation) {
    breed();
    if (offspring_.empty()) break;
    survive();
  }
  const auto best = std::min_element(
      population_.begin(), population_.end(), [](const Candidate& a, const Candidate& b) {
        return a.front != b.front ? a.front < b.front : a.value < b.value;
      });
  value_ = -best->value;
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
