// How candidates are bred: NSGA-II's tournament, crossover and mutation, for tables of GPUs.
#include <algorithm>
#include <bit>

#include "solve/allocation_search.h"
#include "solve/packed_bytes.h"

namespace muster {
namespace {

constexpr double kCrossing = 0.9;  // chance that two parents exchange rows

}  // namespace

// The winner of a tournament: the candidate that dominates, else the less crowded, else either.
bool AllocationSearch::beats(const Candidate& a, const Candidate& b) {
  const bool a_no_worse = a.value <= b.value && a.utility <= b.utility;
  const bool b_no_worse = b.value <= a.value && b.utility <= a.utility;
  // Pareto dominance: no worse in both objectives and better in one.
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

// One-point crossover: the children exchange the rows of the first jobs.
void AllocationSearch::cross(const Candidate& a, const Candidate& b, Word* first, Word* second) {
  std::copy(cells_of(a), cells_of(a) + table_words_, first);
  std::copy(cells_of(b), cells_of(b) + table_words_, second);
  if (!random_.chance(kCrossing)) return;
  const std::size_t rows = random_.below(jobs_->size());
  std::swap_ranges(first, first + rows * words_, second);
}

// Bits that are set with a chance of one in ten; at most so many. Each binary digit of the chance,
// from the last on, keeps half of the bits ("and" with random ones) or sets half of the others
// ("or").
AllocationSearch::Word AllocationSearch::one_in_ten(std::size_t bits) {
  constexpr unsigned kTenth = 410;  // of 4096
  constexpr int kDigits = 12;
  Word set = 0;
  for (int i = 0; i < kDigits; ++i) {
    const Word draw = random_.next();
    set = (kTenth >> i & 1U) != 0 ? set | draw : set & draw;
  }
  return bits >= 64 ? set : set & ((Word{1} << bits) - 1);
}

// Some jobs get back what they hold now, so that candidates with few restarts stay in the
// population; some lose nodes; and nodes with free GPUs are filled. Time: O(jobs x nodes).
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
        for (Word there = packed_bytes::filled(word) & packed_bytes::kOnes; there != 0;
             there &= there - 1) {
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
    // Each of all jobs with a chance of one in their number: how many, then which.
    const double draw = random_.unit();
    for (const double up_to : hits_) {
      if (draw < up_to) break;
      raise(random_.below(count));
    }
  }
}

// As many children as the population has members, in pairs of two parents each.
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

}  // namespace muster
