#include "solve/matching.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "solve/matching_rows.h"

namespace muster {
namespace {

using matching_rows::kInfinity;
using matching_rows::kTight;
using matching_rows::least_of;

constexpr signed char kUntouched = -1;
constexpr signed char kOuter = 0;
constexpr signed char kInner = 1;

}  // namespace

void Matcher::reset(std::span<const int> kinds, std::span<const double> weights) {
  const std::size_t n = kinds.size();
  n_ = static_cast<Vertex>(n);
  count_ = n_;
  // Compound vertices nest, so there are never more than half as many as real ones.
  width_ = n + n / 2 + 2;
  const std::size_t rows = (n / 2 + 1) * width_;
  if (near_.size() < rows) {
    near_.resize(rows);
    born_label_.resize(rows);
    holder_.resize(rows);
  }
  if (ring_.size() < width_) {
    ring_.resize(width_);
    first_ring_.resize(width_);
    born_.resize(width_);
    leaves_.resize(width_);
  }
  label_.assign(width_, 0);
  top_.assign(width_, 0);
  mate_.assign(width_, 0);
  parent_.assign(width_, 0);
  best_.assign(width_, 0);
  best_slack_.assign(width_, kInfinity);
  limit_.assign(width_, kInfinity);
  mark_.assign(width_, kUntouched);
  hidden_.assign(width_, kInfinity);
  direction_.assign(width_, 0);
  share_.assign(width_, 1);
  tops_.clear();
  seen_.assign(width_, 0);
  shrunk_.resize(width_);
  adopted_.resize(width_);
  stamp_ = 0;
  kind_.assign(width_, 0);
  const std::size_t kind_count =
      n == 0 ? 0 : static_cast<std::size_t>(*std::max_element(kinds.begin(), kinds.end())) + 1;
  doubled_.assign(std::max<std::size_t>(1, kind_count) * width_, 0);
  scanned_weight_.assign(doubled_.size(), -kInfinity);
  offered_weight_.assign(doubled_.size(), -kInfinity);
  double largest = 0;
  for (std::size_t kind = 0; kind < kind_count; ++kind) {
    for (std::size_t v = 0; v < n; ++v) {
      const double back = weights[static_cast<std::size_t>(kinds[v]) * kind_count + kind];
      if (back > 0) offered_weight_[kind * width_ + v + 1] = back * 2;
      const double weight = weights[kind * kind_count + static_cast<std::size_t>(kinds[v])];
      if (!(weight > 0)) continue;
      doubled_[kind * width_ + v + 1] = scanned_weight_[kind * width_ + v + 1] = weight * 2;
    }
  }
  for (std::size_t u = 0; u < n; ++u) {
    kind_[u + 1] = kinds[u];
    top_[u + 1] = static_cast<Vertex>(u + 1);
  }
  for (Vertex u = 1; u <= n_; ++u) {
    const double* const from = weights_from(u);
    for (Vertex v = 1; v <= n_; ++v) {
      if (u != v) largest = std::max(largest, from[v]);
    }
  }
  std::fill(label_.begin() + 1, label_.begin() + n_ + 1, largest / 2);
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
  if (x <= n_) {
    queue_.push_back(x);
    return;
  }
  scratch_.assign(1, x);
  for (std::size_t i = 0; i < scratch_.size(); ++i) {
    const Vertex y = scratch_[i];
    if (y <= n_) {
      queue_.push_back(y);
    } else {
      scratch_.insert(scratch_.end(), ring_[y].begin(), ring_[y].end());
    }
  }
}

// Offers to inner vertices are never asked for again. Offers to compound vertices are made apart,
// so that of a vertex inside one only a tight edge is news.
void Matcher::set_limit(Vertex x) {
  if (x > n_) {
    const double limit = mark_[x] == kInner ? -kInfinity : kTight;
    for (const Vertex v : leaves_[x]) limit_[v] = limit;
  } else if (top_[x] == x) {
    limit_[x] = mark_[x] == kInner ? -kInfinity : std::max(best_slack_[x], kTight);
  }
}

void Matcher::show_mark(Vertex v, signed char mark) {
  hidden_[v] = mark == kOuter ? 0 : kInfinity;
  direction_[v] = mark == kOuter ? -1 : mark == kInner ? 1 : 0;
  share_[v] = mark == kOuter ? 0.5 : 1;
}

void Matcher::set_mark(Vertex x, signed char mark) {
  mark_[x] = mark;
  if (x <= n_) {
    show_mark(x, mark);
  } else {
    for (const Vertex v : leaves_[x]) show_mark(v, mark);
  }
}

void Matcher::offer(Vertex u, Vertex x) {
  const double offered = slack(edge(u, x));
  if (best_[x] != 0 && !(offered < best_slack_[x])) return;
  best_[x] = u;
  best_slack_[x] = offered;
  if (x <= n_) set_limit(x);
}

void Matcher::forget_best(Vertex x) {
  best_[x] = 0;
  best_slack_[x] = kInfinity;
  set_limit(x);
}

void Matcher::rebuild_best(Vertex x) {
  best_[x] = 0;
  best_slack_[x] = kInfinity;
  if (x <= n_) {
    const double* const weights = &offered_weight_[static_cast<std::size_t>(kind_[x]) * width_];
    const double own_hidden = std::exchange(hidden_[x], kInfinity);
    const Vertex u =
        matching_rows::least_slack(label_.data(), weights, hidden_.data(), label_[x], n_ + 1);
    hidden_[x] = own_hidden;
    if (u != 0) {
      best_[x] = u;
      best_slack_[x] = label_[u] + label_[x] - weights[u];
    }
  } else {
    const Vertex* const near = &near_[row(x)];
    for (Vertex u = 1; u <= n_; ++u) {
      if (hidden_[u] != 0 || top_[u] == x) continue;
      const double weight = weights_from(u)[near[u]];
      const double offered = label_[u] + label_[near[u]] - weight;
      if (!(weight > 0) || !(offered < best_slack_[x])) continue;
      best_[x] = u;
      best_slack_[x] = offered;
    }
  }
  set_limit(x);
}

bool Matcher::phase() {
  std::fill(mark_.begin(), mark_.begin() + count_ + 1, kUntouched);
  std::fill(hidden_.begin(), hidden_.begin() + n_ + 1, kInfinity);
  std::fill(direction_.begin(), direction_.begin() + n_ + 1, 0);
  std::fill(share_.begin(), share_.begin() + n_ + 1, 1);
  std::fill(best_.begin(), best_.begin() + count_ + 1, 0);
  std::fill(best_slack_.begin(), best_slack_.begin() + count_ + 1, kInfinity);
  std::fill(limit_.begin(), limit_.begin() + n_ + 1, kInfinity);
  for (const Vertex b : tops_) set_limit(b);
  queue_.clear();
  head_ = 0;
  scanned_.clear();
  for (Vertex x = 1; x <= count_; ++x) {
    if (top_[x] != x || mate_[x] != 0) continue;
    parent_[x] = 0;
    set_mark(x, kOuter);
    enqueue(x);
  }
  if (queue_.empty()) return false;
  for (;;) {
    while (head_ < queue_.size()) {
      const Vertex u = queue_[head_++];
      if (mark_[top_[u]] == kInner) continue;
      if (scan(u)) return true;
    }
    if (!adjust()) return false;
    queue_.clear();
    head_ = 0;
    scanned_.clear();
    const Vertex before = count_;
    for (Vertex x = 1; x <= before; ++x) {
      if (best_slack_[x] <= 0 && top_[x] == x && best_[x] != 0 && top_[best_[x]] != x &&
          found(edge(best_[x], x))) {
        return true;
      }
    }
    for (Vertex b = n_ + 1; b <= count_; ++b) {
      if (top_[b] == b && mark_[b] == kInner && label_[b] <= 0) expand(b);
    }
  }
}

bool Matcher::scan(Vertex u) {
  if (top_[u] == u) {
    for (const Scanned& twin : scanned_) {
      if (twin.kind != kind_[u] || twin.label != label_[u]) continue;
      // Every other vertex has had the same offer from the twin; only the twin itself has not, and
      // compound ones remember their own edges.
      const Edge to_twin{u, twin.vertex};
      if (joined(to_twin)) {
        if (slack(to_twin) <= 0) break;
        offer(u, twin.vertex);
      }
      offer_to_compound(u, 1, n_ + 1);
      return false;
    }
  }
  return scan_row(u);
}

// Offers u to every compound vertex outside u's with a joined and not tight vertex in [from, end).
void Matcher::offer_to_compound(Vertex u, Vertex from, Vertex end) {
  const double* const weights = weights_from(u);
  for (const Vertex b : tops_) {
    if (mark_[b] == kInner || top_[u] == b) continue;
    if (best_[b] != 0 && !(slack(edge(u, b)) < best_slack_[b]))
      continue;  // it would change nothing
    for (const Vertex v : leaves_[b]) {
      if (v < from || v >= end) continue;
      if (!(weights[v] > 0) || !(label_[u] + label_[v] - weights[v] > 0)) continue;
      offer(u, b);
      break;
    }
  }
}

bool Matcher::scan_row(Vertex u) {
  const double* const weights = &scanned_weight_[static_cast<std::size_t>(kind_[u]) * width_];
  const double own = label_[u];
  Vertex behind = 1;   // compound vertices have had their offers up to here
  Vertex checked = 1;  // whole blocks end here
  for (Vertex v = 1; v <= n_; ++v) {
    if (v >= checked) {
      const double own_limit = std::exchange(limit_[u], -kInfinity);
      v = matching_rows::offer_row(label_.data(), weights, limit_.data(), best_slack_.data(),
                                   best_.data(), u, own, v, n_ + 1);
      limit_[u] = own_limit;
      if (v > n_) break;
      checked = v + 8;
    }
    const double gap = own + label_[v] - weights[v];
    if (!(gap < limit_[v]) || v == u || top_[u] == top_[v]) continue;
    if (gap > 0) {
      if (top_[v] == v) {
        best_[v] = u;
        best_slack_[v] = limit_[v] = gap;
      }
    } else if (mark_[top_[v]] != kInner) {
      offer_to_compound(u, behind, v);
      behind = v + 1;
      if (found({u, v})) return true;
    }
  }
  offer_to_compound(u, behind, n_ + 1);
  if (behind > 1) {
    scanned_.clear();
  } else if (top_[u] == u) {
    scanned_.push_back({kind_[u], own, u});
  }
  return false;
}

bool Matcher::adjust() {
  double step = kInfinity;
  for (const Vertex b : tops_) {
    if (mark_[b] == kInner) {
      step = std::min(step, label_[b] / 2);
    } else if (best_[b] != 0) {
      step = std::min(step, mark_[b] == kOuter ? best_slack_[b] / 2 : best_slack_[b]);
    }
  }
  step = std::min(step, least_of(n_ + 1, [this](Vertex v) { return best_slack_[v] * share_[v]; }));
  // Whoever is nearly at the step ends the search; only the least label can be.
  const double least = least_of(n_ + 1, [this](Vertex v) { return label_[v] + hidden_[v]; });
  if (least <= step || least * (1 - 2 * options_.stop_tolerance) <= step) {
    for (Vertex u = 1; u <= n_; ++u) {
      if (hidden_[u] == 0 &&
          (label_[u] <= step ||
           std::abs(label_[u] - step) <= options_.stop_tolerance * std::max(label_[u], step))) {
        return false;
      }
    }
  }
  for (Vertex u = 1; u <= n_; ++u) label_[u] += direction_[u] * step;
  for (const Vertex b : tops_) {
    if (mark_[b] == kOuter) label_[b] += step * 2;
    if (mark_[b] == kInner) label_[b] -= step * 2;
    if (best_[b] != 0) best_slack_[b] = slack(edge(best_[b], b));
  }
  for (Vertex x = 1; x <= n_; ++x) {
    if (best_[x] == 0) continue;
    best_slack_[x] = slack({best_[x], x});
    limit_[x] = std::max(best_slack_[x], kTight);
  }
  return true;
}

bool Matcher::found(Edge e) {
  const Vertex u = top_[e.u];
  const Vertex v = top_[e.v];
  if (mark_[v] == kUntouched) {
    parent_[v] = e.u;
    set_mark(v, kInner);
    const Vertex next = top_[mate_[v]];
    set_mark(next, kOuter);
    forget_best(v);
    forget_best(next);
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

void Matcher::set_top(Vertex x, Vertex top) {
  top_[x] = top;
  if (x <= n_) {
    if (top > n_) leaves_[top].push_back(x);
    return;
  }
  for (const Vertex child : ring_[x]) set_top(child, top);
}

// The compound vertex stands in for the child wherever the child's edge has less slack. Where no
// edge exists yet, anything goes: even a pair without an edge, whose weight counts as 0.
void Matcher::adopt_edges(Vertex b, Vertex child) {
  Vertex* const near = &near_[row(b)];
  const bool first = child == ring_[b].front();
  if (child <= n_) {
    matching_rows::adopt_row(near, shrunk_.data(), adopted_.data(), label_.data(),
                             weights_from(child), child, label_[child], first, n_ + 1);
    return;
  }
  const Vertex* const theirs = &near_[row(child)];
  for (Vertex x = 1; x <= n_; ++x) {
    if (top_[x] == b) continue;
    const Vertex leaf = theirs[x];
    const double weight = weights_from(leaf)[x];
    const double gap = label_[leaf] + label_[x] - weight;
    const auto at = static_cast<std::size_t>(x);
    if (!first && !(gap < shrunk_[at]) && adopted_[at] > 0) continue;
    near[x] = leaf;
    shrunk_[at] = gap;
    adopted_[at] = weight;
  }
}

// Which edge stands for two compound vertices was settled when the later of them was made, by the
// labels of then. Few are ever asked for, so it is found when it is.
Matcher::Edge Matcher::compound_edge(Vertex a, Vertex b) const {
  if (born_[a] < born_[b]) {
    const Edge turned = compound_edge(b, a);
    return {turned.v, turned.u};
  }
  const double* const label = &born_label_[row(a)];
  Edge best;
  double least = 0;
  bool first = true;
  for (const Vertex child : first_ring_[a]) {
    const Edge theirs = edge(child, b);
    const double gap = label[theirs.u] + label[theirs.v] - doubled(theirs);
    if (!first && !(gap < least) && joined(best)) continue;
    best = theirs;
    least = gap;
    first = false;
  }
  return best;
}

void Matcher::shrink(Vertex u, Vertex base, Vertex v) {
  Vertex b = n_ + 1;
  while (b <= count_ && top_[b] != 0) ++b;
  count_ = std::max(count_, b);
  label_[b] = 0;
  mate_[b] = mate_[base];
  std::vector<Vertex>& ring = ring_[b];
  ring.assign(1, base);
  const auto climb = [&](Vertex x) {
    while (x != base) {
      ring.push_back(x);
      const Vertex y = top_[mate_[x]];
      ring.push_back(y);
      enqueue(y);
      x = top_[parent_[y]];
    }
  };
  climb(u);
  std::reverse(ring.begin() + 1, ring.end());
  climb(v);
  leaves_[b].clear();
  set_top(b, b);
  set_mark(b, kOuter);
  for (const Vertex child : ring) {
    best_[child] = 0;
    best_slack_[child] = kInfinity;
    if (child > n_) tops_.erase(std::find(tops_.begin(), tops_.end(), child));
  }
  tops_.push_back(b);
  std::fill_n(holder_.begin() + static_cast<std::ptrdiff_t>(row(b)), n_ + 1, 0);
  born_[b] = ++births_;
  first_ring_[b] = ring;
  std::copy_n(label_.begin(), n_ + 1, born_label_.begin() + static_cast<std::ptrdiff_t>(row(b)));
  for (const Vertex child : ring) {
    adopt_edges(b, child);
    if (child <= n_) {
      holder_[row(b) + static_cast<std::size_t>(child)] = child;
    } else {
      for (const Vertex leaf : leaves_[child]) {
        holder_[row(b) + static_cast<std::size_t>(leaf)] = child;
      }
    }
  }
  rebuild_best(b);
}

std::size_t Matcher::rotate_to(Vertex b, Vertex child) {
  std::vector<Vertex>& ring = ring_[b];
  const auto position =
      static_cast<std::size_t>(std::find(ring.begin(), ring.end(), child) - ring.begin());
  if (position % 2 == 0) return position;
  std::reverse(ring.begin() + 1, ring.end());
  return ring.size() - position;
}

void Matcher::match(Vertex u, Vertex v) {
  pending_.assign(1, {u, v});
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    const Edge pair = pending_[i];
    const Edge through = edge(pair.u, pair.v);
    mate_[pair.u] = through.v;
    if (pair.u <= n_) continue;
    const Vertex child = child_with(pair.u, through.u);
    const std::size_t position = rotate_to(pair.u, child);
    std::vector<Vertex>& ring = ring_[pair.u];
    for (std::size_t j = 0; j < position; ++j) pending_.push_back({ring[j], ring[j ^ 1U]});
    pending_.push_back({child, pair.v});
    std::rotate(ring.begin(), ring.begin() + static_cast<std::ptrdiff_t>(position), ring.end());
  }
}

void Matcher::augment(Vertex u, Vertex v) {
  for (;;) {
    const Vertex next = top_[mate_[u]];
    match(u, v);
    if (next == 0) return;
    match(next, top_[parent_[next]]);
    u = top_[parent_[next]];
    v = next;
  }
}

void Matcher::expand(Vertex b) {
  const std::vector<Vertex>& ring = ring_[b];
  tops_.erase(std::find(tops_.begin(), tops_.end(), b));
  for (const Vertex child : ring) {
    leaves_[child].clear();
    set_top(child, child);
    if (child > n_) tops_.push_back(child);
  }
  const Vertex entry = child_with(b, edge(b, parent_[b]).u);
  const std::size_t position = rotate_to(b, entry);
  for (std::size_t i = 0; i < position; i += 2) {
    const Vertex inner = ring[i];
    const Vertex outer = ring[i + 1];
    parent_[inner] = edge(outer, inner).u;
    set_mark(inner, kInner);
    set_mark(outer, kOuter);
    forget_best(inner);
    rebuild_best(outer);
    enqueue(outer);
  }
  set_mark(entry, kInner);
  forget_best(entry);
  parent_[entry] = parent_[b];
  for (std::size_t i = position + 1; i < ring.size(); ++i) {
    set_mark(ring[i], kUntouched);
    rebuild_best(ring[i]);
  }
  top_[b] = 0;
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
