// Compound vertices: how they are made, what stands for them, and how they open.
#include <algorithm>

#include "solve/matching.h"

namespace muster {

// Rings turn when a phase ends; until then the order, ring by ring from the outside in, is kept.
void Matcher::put_leaves_in_order(Vertex b) {
  if (compound(b).ordered == phases_) return;
  compound(b).ordered = phases_;
  std::vector<Vertex>& leaves = compound(b).leaves;
  leaves.clear();
  scratch_.assign(1, b);
  for (std::size_t i = 0; i < scratch_.size(); ++i) {
    const Vertex x = scratch_[i];
    if (real(x)) {
      leaves.push_back(x);
    } else {
      const std::vector<Vertex>& ring = compound(x).ring;
      scratch_.insert(scratch_.end(), ring.begin(), ring.end());
    }
  }
}

// Makes x the one that is in no other for all that is inside.
void Matcher::set_top(Vertex x) {
  top_[x] = x;
  if (real(x)) return;
  for (const Vertex v : compound(x).leaves) top_[v] = x;
}

// The compound vertex stands in for the child wherever the child's edge has less slack. Where no
// edge exists yet, anything goes: even a pair without an edge, whose weight counts as 0.
void Matcher::adopt_edges(Vertex b) {
  std::vector<Vertex>& near = compound(b).near;
  near.resize(static_cast<std::size_t>(classes_));
  bool first = true;
  for (const Vertex child : compound(b).ring) {
    for (Class c = 0; c < classes_; ++c) {
      const Vertex leaf = real(child) ? child : compound(child).near[c];
      const double weight = doubled_from(class_of(leaf))[c];
      const double gap = label_[class_of(leaf)] + label_[c] - weight;
      if (!first && !(gap < shrunk_[c]) && adopted_[c] > 0) continue;
      near[c] = leaf;
      shrunk_[c] = gap;
      adopted_[c] = weight;
    }
    first = false;
  }
}

// Which edge stands for two compound vertices was settled when the later of them was made, by the
// labels of then. Few are ever asked for, so it is found when it is.
Matcher::Edge Matcher::compound_edge(Vertex a, Vertex b) const {
  if (compound(a).born < compound(b).born) {
    const Edge turned = compound_edge(b, a);
    return {turned.v, turned.u};
  }
  const std::vector<double>& label = compound(a).born_label;
  const auto born_label = [&](Vertex v) { return label[class_of(v)]; };
  Edge best;
  double least = 0;
  bool first = true;
  for (const Vertex child : compound(a).first_ring) {
    const Edge theirs = edge(child, b);
    const double gap = born_label(theirs.u) + born_label(theirs.v) - doubled(theirs);
    if (!first && !(gap < least) && joined(best)) continue;
    best = theirs;
    least = gap;
    first = false;
  }
  return best;
}

void Matcher::list_classes(Compound& of) const {
  of.classes.clear();
  for (Class c = 0; c < classes_; ++c) {
    if (of.count[c] > 0) of.classes.push_back(c);
  }
}

void Matcher::shrink(Vertex u, Vertex base, Vertex v) {
  Vertex b = first_free_;
  while (b <= count_ && top_[b] != 0) ++b;
  count_ = std::max(count_, b);
  first_free_ = b + 1;
  Compound& made = compound(b);
  made.label = 0;
  made.born = ++births_;
  mate_[b] = mate_[base];
  made.ring.assign(1, base);
  const auto climb = [&](Vertex x) {
    while (x != base) {
      made.ring.push_back(x);
      const Vertex y = top_[mate_[x]];
      made.ring.push_back(y);
      enqueue(y);
      x = top_[parent_[y]];
    }
  };
  climb(u);
  std::reverse(made.ring.begin() + 1, made.ring.end());
  climb(v);
  made.first_ring = made.ring;
  made.leaves.clear();
  made.count.assign(static_cast<std::size_t>(classes_), 0);
  made.holder.resize(static_cast<std::size_t>(n_) + 1);
  made.ordered = phases_;
  Vertex inmost = 0;  // the last compound child
  for (const Vertex child : made.ring) {
    tally(child, mark_[child], -1);
    set_best(child, 0, kInfinity);
    if (real(child)) {
      made.leaves.push_back(child);
      ++made.count[class_of(child)];
      made.holder[static_cast<std::size_t>(child)] = child;
    } else {
      const Compound& inside = compound(child);
      if (inmost != 0 || inside.ordered != phases_) made.ordered = 0;
      inmost = child;
      for (Class c = 0; c < classes_; ++c) made.count[c] += inside.count[c];
      for (const Vertex leaf : inside.leaves) made.holder[static_cast<std::size_t>(leaf)] = child;
      deeper_.insert(deeper_.end(), inside.leaves.begin(), inside.leaves.end());
      tops_.erase(std::find(tops_.begin(), tops_.end(), child));
      top_[child] = b;
    }
  }
  made.leaves.insert(made.leaves.end(), deeper_.begin(), deeper_.end());
  deeper_.clear();
  list_classes(made);
  set_top(b);
  mark_[b] = kOuter;
  tally(b, kOuter, 1);
  tops_.push_back(b);
  made.born_label.assign(label_.begin(), label_.begin() + classes_);
  adopt_edges(b);
  rebuild_best(b);
}

std::size_t Matcher::rotate_to(Vertex b, Vertex child) {
  std::vector<Vertex>& ring = compound(b).ring;
  const auto position =
      static_cast<std::size_t>(std::find(ring.begin(), ring.end(), child) - ring.begin());
  if (position % 2 == 0) return position;
  std::reverse(ring.begin() + 1, ring.end());
  return ring.size() - position;
}

void Matcher::match(Vertex u, Vertex v) {
  pending_.assign(1, {{u, v}, edge(u, v)});
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    const auto [pair, through] = pending_[i];
    mate_[pair.u] = through.v;
    if (real(pair.u)) continue;
    const Vertex child = child_with(pair.u, through.u);
    const std::size_t position = rotate_to(pair.u, child);
    std::vector<Vertex>& ring = compound(pair.u).ring;
    for (std::size_t j = 0; j < position; ++j) {
      pending_.push_back({{ring[j], ring[j ^ 1U]}, edge(ring[j], ring[j ^ 1U])});
    }
    // The edge of the younger of two is that of one of its children.
    const bool same = real(pair.v) || compound(pair.v).born < compound(pair.u).born;
    pending_.push_back({{child, pair.v}, same ? through : edge(child, pair.v)});
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

// The only compound child's leaves follow the real children, in its order.
void Matcher::pass_order_on(Vertex b) {
  const Compound& outside = compound(b);
  if (outside.ordered != phases_) return;
  Vertex only = 0;
  for (const Vertex child : outside.ring) {
    if (real(child)) continue;
    if (only != 0) return;
    only = child;
  }
  if (only == 0) return;
  const auto singles = static_cast<std::ptrdiff_t>(outside.ring.size()) - 1;
  compound(only).leaves.assign(outside.leaves.begin() + singles, outside.leaves.end());
  compound(only).ordered = phases_;
}

void Matcher::expand(Vertex b) {
  const std::vector<Vertex>& ring = compound(b).ring;
  tops_.erase(std::find(tops_.begin(), tops_.end(), b));
  set_mark(b, kUntouched);
  pass_order_on(b);
  for (const Vertex child : ring) {
    mark_[child] = kUntouched;
    set_top(child);
    if (!real(child)) tops_.push_back(child);
  }
  const Vertex entry = child_with(b, edge(b, parent_[b]).u);
  const std::size_t position = rotate_to(b, entry);
  for (std::size_t i = 0; i < position; i += 2) {
    const Vertex inner = ring[i];
    const Vertex outer = ring[i + 1];
    parent_[inner] = edge(outer, inner).u;
    set_mark(inner, kInner);
    set_mark(outer, kOuter);
    set_best(inner, 0, kInfinity);
    rebuild_best(outer);
    enqueue(outer);
  }
  set_mark(entry, kInner);
  set_best(entry, 0, kInfinity);
  parent_[entry] = parent_[b];
  for (std::size_t i = position + 1; i < ring.size(); ++i) {
    set_mark(ring[i], kUntouched);
    rebuild_best(ring[i]);
  }
  top_[b] = 0;
  first_free_ = std::min(first_free_, b);
}

}  // namespace muster
