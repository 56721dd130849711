// Part of solve/matching.h, where reference, complexity and invariants are.
//
// Which edge of least slack leads from the trees to a vertex: what bounds the next move of the dual
// variables. A scan that finds no tight edge leaves an offer, and offers are compared when the
// duals have to move.
#include <algorithm>
#include <bit>
#include <utility>

#include "solve/matching.h"

namespace muster {

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
    const Vertex* const near = blossom(x).near.data();
    const std::int32_t* const count = blossom(x).count.data();
    for (Class c = 0; c < classes_; ++c) consider(c, within * count[c], class_of(near[c]));
  }
  // No outer vertex has an edge to it, so it cannot bound a step.
  if (least == kInfinity) {
    set_best(x, 0, kInfinity);
    return;
  }
  Vertex best = first_outer(tied[0], x);
  for (std::size_t i = 1; i < ties; ++i) best = std::min(best, first_outer(tied[i], x));
  set_best(x, best, least);
}

// Makes the offers since the dual variables last moved, one after another. As long as they rest,
// edges that are not tight are not needed, and most searches end before.
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
      // Insertion sort: there are few classes with offers.
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

// What a blossom makes of an offer: it counts if the offering one is outside and has an
// edge that is not tight to any vertex inside and in the range.
void Matcher::take_offer(Vertex b, const Offer& offer) {
  const Class own = class_of(offer.u);
  const double* const gap = gap_from(own);
  const Class to = class_of(blossom(b).near[own]);
  const double offered = gap[to] < kInfinity ? gap[to] : dual_[own] + dual_[to];
  // Only a smaller slack bounds the next dual step; equal ones keep the first, as the fixed order
  // of ties demands.
  if (!(offered < best_slack_[b]) || top_[offer.u] == b) return;
  const auto suits = [gap](Class c) { return gap[c] > 0 && gap[c] < kInfinity; };
  bool any = false;
  if (offer.from == 1 && offer.end == n_ + 1) {
    const std::vector<std::int32_t>& count = blossom(b).count;
    for (Class c = 0; c < classes_ && !any; ++c) any = count[c] > 0 && suits(c);
  } else {
    const std::vector<Vertex>& leaves = blossom(b).leaves;
    any = std::any_of(leaves.begin(), leaves.end(), [&](Vertex v) {
      return v >= offer.from && v < offer.end && suits(class_of(v));
    });
  }
  if (!any) return;
  best_[b] = offer.u;
  set_slack(b, offered);
}

}  // namespace muster
