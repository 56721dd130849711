#include "solve/matching.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace muster {

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
  // Compound vertices nest, so there are never more than half as many as real ones.
  const std::size_t width = n + n / 2 + 3;
  if (compound_.size() < n / 2 + 1) compound_.resize(n / 2 + 1);
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
  std::fill_n(label_.begin(), kind_count, largest / 2);
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

void Matcher::enqueue(Vertex x) {
  if (real(x)) {
    queue_.push_back(x);
    return;
  }
  put_leaves_in_order(x);
  const std::vector<Vertex>& leaves = compound(x).leaves;
  queue_.insert(queue_.end(), leaves.rbegin(), leaves.rend());
}

// The first member of the class that is outer and not in `outside`; there must be one.
Matcher::Vertex Matcher::first_outer(Class c, Vertex outside) const {
  const std::uint64_t* const members = &member_bits_[static_cast<std::size_t>(c) * words_];
  for (std::size_t i = 0;; ++i) {
    const std::uint64_t word = members[i] & bits_[kOuter][i] & ~word_of(outside, i);
    if (word != 0) return static_cast<Vertex>(i * 64) + std::countr_zero(word);
  }
}

// The outer vertex with the least slack to x, the first of several.
void Matcher::rebuild_best(Vertex x) {
  const std::int32_t* const outer = marked_[kOuter].data();
  Class* const tied = tied_.data();
  std::size_t ties = 0;
  double least = kInfinity;
  const auto consider = [&](Class c, std::int32_t inside, Class to) {
    const double offered = gap_from(c)[to];
    if (offered > least || outer[c] == inside) return;
    if (offered < least) ties = 0;
    least = offered;
    tied[ties++] = c;
  };
  const std::int32_t within = mark_[x] == kOuter ? 1 : 0;
  if (real(x)) {
    const Class own = class_of(x);
    for (Class c = 0; c < classes_; ++c) consider(c, c == own ? within : 0, own);
  } else {
    const Vertex* const near = compound(x).near.data();
    const std::int32_t* const count = compound(x).count.data();
    for (Class c = 0; c < classes_; ++c) consider(c, within * count[c], class_of(near[c]));
  }
  if (least == kInfinity) {
    set_best(x, 0, kInfinity);
    return;
  }
  Vertex best = first_outer(tied[0], x);
  for (std::size_t i = 1; i < ties; ++i) best = std::min(best, first_outer(tied[i], x));
  set_best(x, best, least);
}

// Marks, counts and the queue as they are when a phase begins, as far as single vertices go.
void Matcher::start_from_free() {
  // Who has a co-located job keeps one, and who is free and inside a compound vertex stays there
  // till then.
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
  if (queue_.empty()) return false;
  for (;;) {
    for (skip_repeated(); head_ < queue_.size(); skip_repeated()) {
      const Vertex u = queue_[head_++];
      if (!repeats(u) && scan(u)) return true;
    }
    if (!adjust()) return false;
    queue_.clear();
    head_ = 0;
    if (follow_best()) return true;
    Vertex b = n_;
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

// The first compound vertex from `from` on that has to open; 0 if none.
Matcher::Vertex Matcher::next_to_expand(Vertex from) const {
  Vertex first = 0;
  for (const Vertex b : tops_) {
    if (b < from || mark_[b] != kInner || compound(b).label > 0) continue;
    if (first == 0 || b < first) first = b;
  }
  return first;
}

// Whether u would find what its twin found: nothing. Everyone has had the same offer from the twin,
// but for the twin itself.
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

// Makes the offers since the labels last moved, one after another. As long as they rest, nobody
// needs to know of edges that are not tight, and most searches end before.
void Matcher::settle_offers() {
  if (offers_.empty()) return;
  std::fill_n(first_offer_.begin(), classes_, kNoOffer);
  offering_.clear();
  for (auto i = static_cast<std::uint32_t>(offers_.size()); i-- > 0;) {
    std::uint32_t& first = first_offer_[class_of(offers_[i].u)];
    if (first == kNoOffer) offering_.push_back(class_of(offers_[i].u));
    offers_[i].next = std::exchange(first, i);
  }
  for (Class c = 0; c < classes_; ++c) {
    ranked_.clear();
    for (const Class d : offering_) {
      const double gap = gap_from(d)[c];
      if (!(gap > 0) || gap == kInfinity) continue;
      ranked_.push_back({gap, d});
      for (auto at = ranked_.size() - 1; at > 0 && gap < ranked_[at - 1].gap; --at) {
        std::swap(ranked_[at], ranked_[at - 1]);
      }
    }
    for (const Vertex v : members_[c]) {
      if (top_[v] == v && mark_[v] != kInner) take_best_offer(v);
    }
  }
  for (const Vertex b : tops_) {
    if (mark_[b] == kInner) continue;
    for (std::uint32_t i = since_[b]; i < offers_.size(); ++i) take_offer(b, offers_[i]);
  }
  offers_.clear();
  std::fill(since_.begin(), since_.end(), 0);
}

// Of the offers with the least gap the first, if that is less than the best so far.
void Matcher::take_best_offer(Vertex v) {
  double least = best_slack_[v];
  std::uint32_t first = kNoOffer;
  for (const auto& [gap, of] : ranked_) {
    if (first == kNoOffer ? gap >= least : gap > least) break;
    std::uint32_t i = first_offer_[of];
    const auto counts = [&](const Offer& offer) {
      return i >= since_[v] && v >= offer.from && v < offer.end && v != offer.u;
    };
    while (i != kNoOffer && !counts(offers_[i])) i = offers_[i].next;
    if (i == kNoOffer) continue;
    first = std::min(first, i);
    least = gap;
  }
  if (first == kNoOffer) return;
  best_[v] = offers_[first].u;
  best_slack_[v] = least;
}

// What a compound vertex makes of an offer: it counts if the offering one is outside and has an
// edge that is not tight to anyone inside and in the range.
void Matcher::take_offer(Vertex b, const Offer& offer) {
  const Class own = class_of(offer.u);
  const double* const gap = gap_from(own);
  const Class to = class_of(compound(b).near[own]);
  const double offered = gap[to] < kInfinity ? gap[to] : label_[own] + label_[to];
  if (!(offered < best_slack_[b]) || top_[offer.u] == b) return;
  const auto suits = [gap](Class c) { return gap[c] > 0 && gap[c] < kInfinity; };
  bool any = false;
  if (offer.from == 1 && offer.end == n_ + 1) {
    const std::vector<std::int32_t>& count = compound(b).count;
    for (Class c = 0; c < classes_ && !any; ++c) any = count[c] > 0 && suits(c);
  } else {
    const std::vector<Vertex>& leaves = compound(b).leaves;
    any = std::any_of(leaves.begin(), leaves.end(), [&](Vertex v) {
      return v >= offer.from && v < offer.end && suits(class_of(v));
    });
  }
  if (!any) return;
  best_[b] = offer.u;
  set_slack(b, offered);
}

bool Matcher::found(Edge e) {
  ++changes_;
  const Vertex u = top_[e.u];
  const Vertex v = top_[e.v];
  if (mark_[v] == kUntouched) {
    parent_[v] = e.u;
    set_mark(v, kInner);
    const Vertex next = top_[mate_[v]];
    set_mark(next, kOuter);
    set_best(v, 0, kInfinity);
    set_best(next, 0, kInfinity);
    enqueue(next);
  } else if (mark_[v] == kOuter) {
    const Vertex base = ancestor(u, v);
    if (base == 0) {
      augment(u, v);
      augment(v, u);
      return true;
    }
    shrink(u, base, v);
  }
  return false;
}

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
