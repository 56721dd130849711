#include "solve/matching.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace muster {

// All duals at half of the largest doubled weight: no edge has negative slack, and nothing is
// matched.
void Matcher::reset(std::span<const int> kinds, std::span<const double> weights) {
  const std::size_t n = kinds.size();
  n_ = static_cast<Vertex>(n);
  count_ = n_;
  first_free_ = n_ + 1;
  classes_ = n == 0 ? 0 : *std::max_element(kinds.begin(), kinds.end()) + 1;
  const auto kind_count = static_cast<std::size_t>(classes_);
  stride_ = std::max(stride_, kind_count);
  words_ = n / 64 + 1;
  make_room();
  member_bits_.assign(stride_ * words_, 0);
  for (std::vector<std::uint64_t>& bits : bits_) bits.assign(words_, 0);
  for (std::size_t c = 0; c < kind_count; ++c) members_[c].clear();
  // Blossoms nest, so there are never more than half as many as real ones.
  const std::size_t width = n + n / 2 + 3;
  if (blossoms_.size() < n / 2 + 1) blossoms_.resize(n / 2 + 1);
  class_.assign(n + 1, 0);
  top_.assign(width, 0);
  around_.assign(n + 1, 0);
  free_.resize(n);
  std::iota(free_.begin(), free_.end(), 1);
  free_bits_.assign(words_, 0);
  free_mark_.assign(width, kUntouched);
  std::fill_n(free_count_.begin(), kind_count, 0);
  for (Vertex v = 1; v <= n_; ++v) {
    class_[v] = kinds[static_cast<std::size_t>(v) - 1];
    members_[class_[v]].push_back(v);
    add_bits(v, &member_bits_[static_cast<std::size_t>(class_[v]) * words_]);
    add_bits(v, free_bits_.data());
    ++free_count_[class_[v]];
    free_mark_[v] = kOuter;
    top_[v] = v;
  }
  mate_.assign(width, 0);
  parent_.assign(width, 0);
  best_.assign(width, 0);
  best_slack_.assign(width, kInfinity);
  tight_.assign(width / 64 + 1, 0);
  since_.assign(width, 0);
  mark_.assign(width, kUntouched);
  tops_.clear();
  seen_.assign(width, 0);
  stamp_ = 0;
  double largest = 0;
  for (std::size_t a = 0; a < kind_count; ++a) {
    for (std::size_t b = 0; b < kind_count; ++b) {
      const double weight = weights[a * kind_count + b];
      doubled_[a * stride_ + b] = weight > 0 ? weight * 2 : 0;
      reach_[a * stride_ + b] = weight > 0 ? weight * 2 : -kInfinity;
      const std::size_t needed = a == b ? 2 : 1;
      if (members_[a].empty() || members_[b].size() < needed) continue;
      largest = std::max(largest, doubled_[a * stride_ + b]);
    }
  }
  std::fill_n(dual_.begin(), kind_count, largest / 2);
  set_gaps();
}

const std::vector<int>& Matcher::solve(std::span<const int> kinds,
                                       std::span<const double> weights) {
  reset(kinds, weights);
  while (phase()) {
  }
  result_.assign(kinds.size(), -1);
  for (Vertex u = 1; u <= n_; ++u) result_[static_cast<std::size_t>(u) - 1] = mate_[u] - 1;
  return result_;
}

// Puts a new outer vertex, or all that are in it, into the queue to be scanned.
void Matcher::enqueue(Vertex x) {
  if (real(x)) {
    queue_.push_back(x);
    return;
  }
  put_leaves_in_order(x);
  const std::vector<Vertex>& leaves = blossom(x).leaves;
  queue_.insert(queue_.end(), leaves.rbegin(), leaves.rend());
}

// Marks, counts and the queue as they are when a phase begins, as far as single vertices go.
void Matcher::start_from_free() {
  // A vertex with a mate keeps one, and one that is free and inside a blossom stays there till
  // then.
  std::erase_if(free_, [this](Vertex x) {
    if (mate_[x] == 0 && top_[x] == x) return false;
    remove_bits(x, free_bits_.data());
    --free_count_[class_of(x)];
    free_mark_[x] = kUntouched;
    return true;
  });
  queue_ = free_;
  head_ = 0;
  std::copy_n(free_mark_.begin(), count_ + 1, mark_.begin());
  bits_[kOuter] = free_bits_;
  std::fill(bits_[kInner].begin(), bits_[kInner].end(), 0);
  for (Class c = 0; c < classes_; ++c) {
    marked_[kOuter][c] = free_count_[c];
    marked_[kUntouched][c] = static_cast<std::int32_t>(members_[c].size()) - free_count_[c];
    marked_[kInner][c] = 0;
  }
}

// Grows alternating trees from all free vertices until one more pair is matched. False if the
// matching is of maximum weight.
bool Matcher::phase() {
  start_from_free();
  std::fill(best_.begin(), best_.begin() + count_ + 1, 0);
  std::fill(best_slack_.begin(), best_slack_.begin() + count_ + 1, kInfinity);
  std::fill(tight_.begin(), tight_.end(), 0);
  std::fill(since_.begin(), since_.end(), 0);
  offers_.clear();
  ++changes_;
  for (Vertex b = n_ + 1; b <= count_; ++b) {
    if (top_[b] != b || mate_[b] != 0) continue;
    parent_[b] = 0;
    set_mark(b, kOuter);
    enqueue(b);
  }
  // Without a free vertex the matching is perfect, and so cannot be augmented.
  if (queue_.empty()) return false;
  for (;;) {
    // First all tight edges of outer vertices: they cost no dual adjustment.
    for (skip_repeated(); head_ < queue_.size(); skip_repeated()) {
      const Vertex u = queue_[head_++];
      if (!repeats(u) && scan(u)) return true;
    }
    // No tight edge is left: the duals move until one is, or until a free vertex's dual is 0, which
    // proves that the weight is a maximum.
    if (!adjust()) return false;
    queue_.clear();
    head_ = 0;
    if (follow_best()) return true;
    Vertex b = n_;
    // An inner blossom with dual 0 gets no further down; its cycle is opened, so that the search
    // can pass through it.
    while ((b = next_to_expand(b + 1)) != 0) expand(b);
  }
}

// Follows the edges that the last step made tight, and those that get to be on the way.
bool Matcher::follow_best() {
  const Vertex before = count_;
  for (Vertex x = next_with_tight_best(1); x <= before; x = next_with_tight_best(x + 1)) {
    if (top_[x] == x && best_[x] != 0 && top_[best_[x]] != x && found(edge(best_[x], x))) {
      return true;
    }
  }
  return false;
}

// The first vertex from `from` on whose best slack is 0 or less; one past the last if none.
Matcher::Vertex Matcher::next_with_tight_best(Vertex from) const {
  auto at = static_cast<std::size_t>(from / 64);
  if (at == tight_.size()) return from;
  std::uint64_t word = tight_[at] & (~std::uint64_t{0} << (from % 64));
  while (word == 0 && ++at < tight_.size()) word = tight_[at];
  return static_cast<Vertex>(at * 64) + (word == 0 ? 0 : std::countr_zero(word));
}

// The first blossom from `from` on that has to open; 0 if none.
Matcher::Vertex Matcher::next_to_expand(Vertex from) const {
  Vertex first = 0;
  for (const Vertex b : tops_) {
    if (b < from || mark_[b] != kInner || blossom(b).dual > 0) continue;
    if (first == 0 || b < first) first = b;
  }
  return first;
}

// Whether u would find what its twin found: nothing. Every vertex has had the same offer from the
// twin, except for the twin itself.
bool Matcher::repeats(Vertex u) {
  Scanned& last = scanned_[class_of(u)];
  if (last.when != changes_) return false;
  const Vertex twin = last.vertex;
  const Vertex top = top_[u];
  if (top == u && top_[twin] == twin) {
    if (!last.offered) offers_.push_back({u, twin, twin + 1});
    last.offered = true;
    return true;
  }
  return top == top_[twin];
}

// Passes over those in the queue whose scan would change nothing: most of them.
void Matcher::skip_repeated() {
  const Vertex* const top = top_.data();
  const Scanned* const scanned = scanned_.data();
  const auto changes_nothing = [=, this](Vertex u) {
    if (mark_[top[u]] == kInner) return true;
    const Scanned& last = scanned[class_of(u)];
    return last.when == changes_ && last.offered && top[u] == u && top[last.vertex] == last.vertex;
  };
  while (head_ < queue_.size() && changes_nothing(queue_[head_])) ++head_;
}

// Follows every tight edge of u to the vertices in order, and offers u to those between them.
bool Matcher::scan(Vertex u) {
  const Class own = class_of(u);
  if (tight_count_[own] < 0) list_tight_classes(own);
  for (Vertex from = 1;;) {
    const Vertex v = next_tight(u, from);
    if (from < v) offers_.push_back({u, from, v});
    if (v > n_) {
      if (from == 1) scanned_[own] = {changes_, u, false};
      return false;
    }
    if (found({u, v})) return true;
    from = v + 1;
  }
}

// The first vertex from `from` on to which u has a tight edge that is news; n_ + 1 if none.
Matcher::Vertex Matcher::next_tight(Vertex u, Vertex from) const {
  const Class own = class_of(u);
  const Vertex top = top_[u];
  const Class* const tight = &tight_classes_[own * stride_];
  const std::int32_t count = tight_count_[own];
  std::uint64_t counted = ~std::uint64_t{0} << (from % 64);
  for (auto i = static_cast<std::size_t>(from / 64); i < words_ && count > 0; ++i) {
    std::uint64_t word = 0;
    for (std::int32_t j = 0; j < count; ++j) {
      word |= member_bits_[static_cast<std::size_t>(tight[j]) * words_ + i];
    }
    word &= counted & ~bits_[kInner][i] & ~word_of(top, i);
    if (word != 0) return static_cast<Vertex>(i * 64) + std::countr_zero(word);
    counted = ~std::uint64_t{0};
  }
  return n_ + 1;
}

// A tight edge from an outer vertex: it grows the tree by a matched pair, closes a blossom, or ends
// an augmenting path, which is when it returns true.
bool Matcher::found(Edge e) {
  ++changes_;
  const Vertex u = top_[e.u];
  const Vertex v = top_[e.v];
  // Grow step: v becomes inner and its mate outer. Every vertex outside of the trees is matched,
  // because all free ones are roots.
  if (mark_[v] == kUntouched) {
    parent_[v] = e.u;
    set_mark(v, kInner);
    // Inner vertices are entered through an unmatched edge and left through the matched one, so
    // paths alternate.
    const Vertex next = top_[mate_[v]];
    set_mark(next, kOuter);
    set_best(v, 0, kInfinity);
    set_best(next, 0, kInfinity);
    enqueue(next);
  } else if (mark_[v] == kOuter) {
    const Vertex base = ancestor(u, v);
    // Two trees: the edge completes an augmenting path from root to root, and the matching grows by
    // one pair.
    if (base == 0) {
      augment(u, v);
      augment(v, u);
      return true;
    }
    shrink(u, base, v);
  }
  return false;
}

// The lowest common ancestor in the alternating trees, walking up from both in turn; 0 if they are
// in different trees.
Matcher::Vertex Matcher::ancestor(Vertex u, Vertex v) {
  ++stamp_;
  while (u != 0 || v != 0) {
    if (u != 0) {
      if (seen_[u] == stamp_) return u;
      seen_[u] = stamp_;
      u = top_[mate_[u]];
      if (u != 0) u = top_[parent_[u]];
    }
    std::swap(u, v);
  }
  return 0;
}

std::vector<std::pair<int, int>> consistent_pairs(std::span<const int> mates) {
  std::vector<std::pair<int, int>> pairs;
  for (std::size_t u = 0; u < mates.size(); ++u) {
    const int v = mates[u];
    if (v > static_cast<int>(u) && mates[static_cast<std::size_t>(v)] == static_cast<int>(u)) {
      pairs.emplace_back(static_cast<int>(u), v);
    }
  }
  return pairs;
}

}  // namespace muster
