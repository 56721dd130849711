#include "solve/matching.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace muster {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
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
  if (out_.size() < rows) {
    out_.resize(rows);
    in_.resize(rows);
    holder_.resize(rows);
  }
  if (ring_.size() < width_) {
    ring_.resize(width_);
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
  seen_.assign(width_, 0);
  stamp_ = 0;
  kind_.assign(width_, 0);
  const std::size_t kind_count =
      n == 0 ? 0 : static_cast<std::size_t>(*std::max_element(kinds.begin(), kinds.end())) + 1;
  doubled_.assign(std::max<std::size_t>(1, kind_count) * width_, 0);
  scanned_weight_.assign(doubled_.size(), -kInfinity);
  double largest = 0;
  for (std::size_t kind = 0; kind < kind_count; ++kind) {
    for (std::size_t v = 0; v < n; ++v) {
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
  constexpr double kTight = std::numeric_limits<double>::min();
  if (x > n_) {
    const double limit = mark_[x] == kInner ? -kInfinity : kTight;
    for (const Vertex v : leaves_[x]) limit_[v] = limit;
  } else if (top_[x] == x) {
    limit_[x] = mark_[x] == kInner ? -kInfinity : std::max(best_slack_[x], kTight);
  }
}

void Matcher::set_mark(Vertex x, signed char mark) {
  mark_[x] = mark;
  set_limit(x);
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
  forget_best(x);
  for (Vertex u = 1; u <= n_; ++u) {
    if (top_[u] != x && mark_[top_[u]] == kOuter && joined(edge(u, x))) offer(u, x);
  }
}

bool Matcher::phase() {
  std::fill(mark_.begin(), mark_.begin() + count_ + 1, kUntouched);
  std::fill(best_.begin(), best_.begin() + count_ + 1, 0);
  std::fill(best_slack_.begin(), best_slack_.begin() + count_ + 1, kInfinity);
  std::fill(limit_.begin(), limit_.begin() + n_ + 1, kInfinity);
  for (Vertex b = n_ + 1; b <= count_; ++b) {
    if (top_[b] == b) set_limit(b);
  }
  queue_.clear();
  head_ = 0;
  scanned_.clear();
  for (Vertex x = 1; x <= count_; ++x) {
    if (top_[x] != x || mate_[x] != 0) continue;
    parent_[x] = 0;
    mark_[x] = kOuter;
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
      if (top_[x] == x && best_[x] != 0 && top_[best_[x]] != x && slack(edge(best_[x], x)) <= 0 &&
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
  for (Vertex b = n_ + 1; b <= count_; ++b) {
    if (top_[b] != b || mark_[b] == kInner || top_[u] == b) continue;
    for (const Vertex v : leaves_[b]) {
      if (v < from || v >= end) continue;
      if (!(weights[v] > 0) || !(label_[u] + label_[v] - weights[v] > 0)) continue;
      offer(u, b);
      break;
    }
  }
}

namespace {

// The first v in [from, end) whose slack is below its limit; `end` if there is none.
std::int32_t next_news(const double* label, const double* weight, const double* limit, double own,
                       std::int32_t from, std::int32_t end) {
  constexpr std::int32_t kBlock = 16;
  while (from + kBlock <= end) {
    int news = 0;
    for (std::int32_t j = 0; j < kBlock; ++j) {
      news |= own + label[from + j] - weight[from + j] < limit[from + j] ? 1 : 0;
    }
    if (news != 0) break;
    from += kBlock;
  }
  while (from < end && !(own + label[from] - weight[from] < limit[from])) ++from;
  return from;
}

}  // namespace

bool Matcher::scan_row(Vertex u) {
  const double* const weights = &scanned_weight_[static_cast<std::size_t>(kind_[u]) * width_];
  const double own = label_[u];
  Vertex behind = 1;  // compound vertices have had their offers up to here
  for (Vertex v = 1; v <= n_; ++v) {
    v = next_news(label_.data(), weights, limit_.data(), own, v, n_ + 1);
    if (v > n_) break;
    if (v == u || top_[u] == top_[v]) continue;
    const double gap = own + label_[v] - weights[v];
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
  for (Vertex b = n_ + 1; b <= count_; ++b) {
    if (top_[b] == b && mark_[b] == kInner) step = std::min(step, label_[b] / 2);
  }
  for (Vertex x = 1; x <= count_; ++x) {
    if (top_[x] != x || best_[x] == 0) continue;
    if (mark_[x] == kUntouched) step = std::min(step, best_slack_[x]);
    if (mark_[x] == kOuter) step = std::min(step, best_slack_[x] / 2);
  }
  for (Vertex u = 1; u <= n_; ++u) {
    const signed char mark = mark_[top_[u]];
    if (mark == kOuter) {
      if (label_[u] <= step ||
          std::abs(label_[u] - step) <= options_.stop_tolerance * std::max(label_[u], step)) {
        return false;
      }
      label_[u] -= step;
    } else if (mark == kInner) {
      label_[u] += step;
    }
  }
  for (Vertex b = n_ + 1; b <= count_; ++b) {
    if (top_[b] != b) continue;
    if (mark_[b] == kOuter) label_[b] += step * 2;
    if (mark_[b] == kInner) label_[b] -= step * 2;
  }
  for (Vertex x = 1; x <= count_; ++x) {
    if (best_[x] == 0) continue;
    best_slack_[x] = slack(edge(best_[x], x));
    if (x <= n_) set_limit(x);
  }
  return true;
}

bool Matcher::found(Edge e) {
  const Vertex u = top_[e.u];
  const Vertex v = top_[e.v];
  if (mark_[v] == kUntouched) {
    parent_[v] = e.u;
    mark_[v] = kInner;
    const Vertex next = top_[mate_[v]];
    mark_[next] = kOuter;
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
  Edge* const out = &out_[row(b)];
  const bool first = child == ring_[b].front();
  for (Vertex x = 1; x <= count_; ++x) {
    if (top_[x] == b || top_[x] == 0) continue;
    const Edge theirs = edge(child, x);
    const double gap = slack(theirs);
    const auto at = static_cast<std::size_t>(x);
    if (!first && !(gap < shrunk_[at]) && joined(out[at])) continue;
    out[at] = theirs;
    set_edge(x, b, edge(x, child));
    shrunk_[at] = gap;
  }
}

void Matcher::shrink(Vertex u, Vertex base, Vertex v) {
  Vertex b = n_ + 1;
  while (b <= count_ && top_[b] != 0) ++b;
  count_ = std::max(count_, b);
  label_[b] = 0;
  mark_[b] = kOuter;
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
  std::fill_n(holder_.begin() + static_cast<std::ptrdiff_t>(row(b)), n_ + 1, 0);
  shrunk_.assign(static_cast<std::size_t>(count_) + 1, kInfinity);
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
  for (const Vertex child : ring) {
    leaves_[child].clear();
    set_top(child, child);
  }
  const Vertex entry = child_with(b, edge(b, parent_[b]).u);
  const std::size_t position = rotate_to(b, entry);
  for (std::size_t i = 0; i < position; i += 2) {
    const Vertex inner = ring[i];
    const Vertex outer = ring[i + 1];
    parent_[inner] = edge(outer, inner).u;
    mark_[inner] = kInner;
    mark_[outer] = kOuter;
    forget_best(inner);
    rebuild_best(outer);
    enqueue(outer);
  }
  set_mark(entry, kInner);
  parent_[entry] = parent_[b];
  for (std::size_t i = position + 1; i < ring.size(); ++i) {
    mark_[ring[i]] = kUntouched;
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
