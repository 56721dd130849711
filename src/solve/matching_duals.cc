// Part of solve/matching.h, where reference, complexity and invariants are.
//
// Classes of vertices, their dual variables, and how these move.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "solve/matching.h"

namespace muster {

// Sizes what is kept by class.
void Matcher::make_room() {
  if (dual_.size() == stride_) return;
  const std::size_t before = dual_.size();
  for (std::vector<double>* table : {&doubled_, &reach_}) {
    std::vector<double> wider(stride_ * stride_);
    for (std::size_t a = 0; a < before; ++a) {
      std::copy_n(table->data() + a * before, before, wider.data() + a * stride_);
    }
    table->swap(wider);
  }
  gap_.resize(stride_ * stride_);
  members_.resize(stride_);
  dual_.resize(stride_);
  for (std::vector<std::int32_t>& marked : marked_) marked.resize(stride_);
  tight_classes_.resize(stride_ * stride_);
  tight_count_.resize(stride_);
  if (words_ > 0) member_bits_.resize(stride_ * words_);
  first_offer_.resize(stride_);
  scanned_.resize(stride_);
  shrunk_.resize(stride_);
  adopted_.resize(stride_);
  tied_.resize(stride_);
  free_count_.resize(stride_);
}

// The slacks of all pairs of classes.
void Matcher::set_gaps() {
  const double* const dual = dual_.data();
  std::fill_n(tight_count_.begin(), classes_, -1);
  low_duals_ = std::any_of(dual, dual + classes_, [](double l) { return l <= 0; });
  for (Class a = 0; a < classes_; ++a) {
    const double* const reach = &reach_[a * stride_];
    double* const gap = &gap_[a * stride_];
    const double own = dual[a];
    for (Class b = 0; b < classes_; ++b) gap[b] = own + dual[b] - reach[b];
  }
}

// The classes to which that one has tight edges.
void Matcher::list_tight_classes(Class from) {
  const double* const gap = gap_from(from);
  Class* const tight = &tight_classes_[from * stride_];
  std::int32_t count = 0;
  for (Class c = 0; c < classes_; ++c) {
    tight[count] = c;
    if (gap[c] <= 0) ++count;
  }
  tight_count_[from] = count;
}

// How far dual variables can move before an edge becomes tight or an inner blossom has to open.
double Matcher::longest_step() {
  double step = kInfinity;
  const auto consider = [&](Vertex x) {
    // Between two outer vertices the slack falls by twice the step, from an outer one to one
    // outside of the trees by the step.
    step = std::min(step, mark_[x] == kOuter ? best_slack_[x] / 2 : best_slack_[x]);
  };
  const auto consider_blossoms = [&] {
    for (const Vertex b : tops_) {
      if (mark_[b] == kInner) {
        // Feasibility of the dual: an inner blossom's dual falls by twice the step and must not
        // become negative.
        step = std::min(step, blossom(b).dual / 2);
      } else {
        consider(b);
      }
    }
  };
  consider_blossoms();
  // A vertex with a tight edge follows it at once, so offers do not matter while there is
  // something to do without a step. Only pairs without an edge, at low duals, may be otherwise.
  const Vertex tight = next_with_tight_best(1);
  if ((step > 0 && tight > n_) || low_duals_) {
    settle_offers();
    consider_blossoms();
    for (Vertex x = 1; x <= n_; ++x) consider(x);
  } else {
    // Only what is tight already can bound it.
    for (Vertex x = tight; x <= n_; x = next_with_tight_best(x + 1)) consider(x);
  }
  return step;
}

// Whether a free vertex's dual is nearly at the step.
bool Matcher::ends_search(double step) const {
  if (step <= 0 && !low_duals_ && options_.stop_tolerance < 1) return false;
  for (Class c = 0; c < classes_; ++c) {
    const double dual = dual_[c];
    if (marked_[kOuter][c] != 0 &&
        // All free vertices are outer and have been since the start, so they share the least dual
        // of all outer ones; when it reaches 0, complementary slackness holds.
        (dual <= step || std::abs(dual - step) <= options_.stop_tolerance * std::max(dual, step))) {
      return true;
    }
  }
  return false;
}

// Moves the dual variables: outer ones down and inner ones up by the same step, blossoms by twice
// that the other way, so that tight edges of the trees stay tight. False if the search ends.
bool Matcher::adjust() {
  const double step = longest_step();
  if (ends_search(step)) return false;
  ++changes_;
  // A step of length 0 changes no dual, but the edges that are tight already are to be followed.
  if (step == 0) return true;
  settle_offers();
  split_mixed_classes();
  for (Class c = 0; c < classes_; ++c) {
    if (marked_[kOuter][c] != 0) dual_[c] -= step;
    if (marked_[kInner][c] != 0) dual_[c] += step;
  }
  set_gaps();
  for (const Vertex b : tops_) {
    if (mark_[b] == kOuter) blossom(b).dual += step * 2;
    if (mark_[b] == kInner) blossom(b).dual -= step * 2;
    if (best_[b] != 0) set_slack(b, slack(edge(best_[b], b)));
  }
  for (Vertex x = 1; x <= n_; ++x) {
    if (best_[x] != 0) set_slack(x, gap_from(class_of(best_[x]))[class_of(x)]);
  }
  return true;
}

// Before dual variables move, those that would move differently part.
void Matcher::split_mixed_classes() {
  for (Class c = 0; c < classes_; ++c) {
    for (const Mark mark : {kOuter, kInner}) {
      const auto size = static_cast<std::int32_t>(members_[c].size());
      const std::int32_t marked = marked_[mark][c];
      if (marked != 0 && marked != size) split(c, mark);
    }
  }
}

// Gives the members of that mark a class of their own. What is known of the old one holds for it.
void Matcher::split(Class from, Mark mark) {
  const Class fresh = classes_++;
  if (static_cast<std::size_t>(fresh) == stride_) {
    stride_ *= 2;
    make_room();
  }
  // The new class starts as a copy: duals, weights and slacks agree until the next step.
  dual_[fresh] = dual_[from];
  for (std::vector<double>* table : {&doubled_, &reach_}) {
    double* const to = table->data();
    for (Class c = 0; c < fresh; ++c) {
      to[fresh * stride_ + c] = to[from * stride_ + c];
      to[c * stride_ + fresh] = to[c * stride_ + from];
    }
    to[fresh * stride_ + fresh] = to[from * stride_ + from];
  }
  for (std::vector<std::int32_t>& marked : marked_) marked[fresh] = 0;
  std::swap(marked_[mark][fresh], marked_[mark][from]);
  for (std::size_t i = 0; i < words_; ++i) {
    std::uint64_t& left = member_bits_[static_cast<std::size_t>(from) * words_ + i];
    member_bits_[static_cast<std::size_t>(fresh) * words_ + i] = left & bits_[mark][i];
    left &= ~bits_[mark][i];
  }
  members_[fresh].clear();
  const auto leaves = [&](Vertex v) { return mark_[top_[v]] == mark; };
  std::copy_if(members_[from].begin(), members_[from].end(), std::back_inserter(members_[fresh]),
               leaves);
  std::erase_if(members_[from], leaves);
  for (Vertex b = n_ + 1; b <= count_; ++b) {
    if (top_[b] == 0) continue;
    Blossom& known = blossom(b);
    known.near.push_back(known.near[from]);
    known.born_dual.push_back(known.born_dual[from]);
    known.count.push_back(0);
  }
  free_count_[fresh] = 0;
  for (const Vertex v : members_[fresh]) {
    class_[v] = fresh;
    if (free_mark_[v] == kOuter) {
      ++free_count_[fresh];
      --free_count_[from];
    }
    if (top_[v] == v) continue;
    for (Vertex b = around_[v];; b = top_[b]) {
      ++blossom(b).count[fresh];
      --blossom(b).count[from];
      if (top_[b] == b) break;
    }
  }
}

}  // namespace muster
