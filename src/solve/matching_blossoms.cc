// Part of solve/matching.h, where reference, complexity and invariants are.
//
// Blossoms: how they are shrunk, which edges stand for them, how they are expanded, and how an
// augmenting path runs through them.
#include <algorithm>

#include "solve/matching.h"

namespace muster {

// The order, ring by ring from the outside in, lasts until rings turn.
void Matcher::put_leaves_in_order(Vertex b) {
  if (blossom(b).ordered) return;
  blossom(b).ordered = true;
  std::vector<Vertex>& leaves = blossom(b).leaves;
  leaves.clear();
  scratch_.assign(1, b);
  std::size_t next = 0;
  while (next < scratch_.size()) {
    const Vertex outside = scratch_[next++];
    for (const Vertex x : blossom(outside).ring) (real(x) ? leaves : scratch_).push_back(x);
  }
  std::reverse(leaves.begin(), leaves.end());
}

// Makes x the one that is in no other for all that is inside.
void Matcher::set_top(Vertex x) {
  top_[x] = x;
  if (real(x)) return;
  Vertex* const top = top_.data();
  for (const Vertex v : blossom(x).leaves) top[v] = x;
}

// The child of b that v is in.
Matcher::Vertex Matcher::child_with(Vertex b, Vertex v) const {
  if (around_[v] == b) return v;
  Vertex only = 0;
  for (const Vertex child : blossom(b).ring) {
    if (real(child)) continue;
    if (only != 0) {
      only = 0;
      break;
    }
    only = child;
  }
  if (only != 0) return only;
  Vertex child = around_[v];
  while (top_[child] != b) child = top_[child];
  return child;
}

// The blossom stands in for the child wherever the child's edge has less slack. Where no
// edge exists yet, anything goes: even a pair without an edge, whose weight counts as 0.
void Matcher::adopt_edges(Vertex b) {
  const auto classes = static_cast<std::size_t>(classes_);
  const double* const dual = dual_.data();
  const Class* const class_of_leaf = class_.data();
  double* const shrunk = shrunk_.data();
  double* const adopted = adopted_.data();
  blossom(b).near.resize(classes);
  Vertex* const near = blossom(b).near.data();
  const auto put = [=](std::size_t c, Vertex leaf, double gap, double weight) {
    near[c] = leaf;
    shrunk[c] = gap;
    adopted[c] = weight;
  };
  const auto take = [=](std::size_t c, Vertex leaf, double gap, double weight) {
    // Keeping only the edge of least slack per class suffices: the dual step is bounded by the
    // least one.
    if (gap < shrunk[c] || !(adopted[c] > 0)) put(c, leaf, gap, weight);
  };
  const auto each = [&](Vertex child, const auto& use) {
    if (real(child)) {
      const double own = dual[class_of(child)];
      const double* const weights = doubled_from(class_of(child));
      for (std::size_t c = 0; c < classes; ++c)
        use(c, child, own + dual[c] - weights[c], weights[c]);
      return;
    }
    const Vertex* const theirs = blossom(child).near.data();
    for (std::size_t c = 0; c < classes; ++c) {
      const Class own = class_of_leaf[theirs[c]];
      const double weight = doubled_from(own)[c];
      use(c, theirs[c], dual[own] + dual[c] - weight, weight);
    }
  };
  const std::vector<Vertex>& ring = blossom(b).ring;
  each(ring.front(), put);
  for (std::size_t i = 1; i < ring.size(); ++i) each(ring[i], take);
}

// Which edge stands for two blossoms was settled when the later of them was made, by the
// dual variables of then. Few are ever asked for, so it is found when it is.
Matcher::Edge Matcher::blossom_edge(Vertex a, Vertex b) const {
  if (blossom(a).born < blossom(b).born) {
    const Edge turned = blossom_edge(b, a);
    return {turned.v, turned.u};
  }
  const std::vector<double>& dual = blossom(a).born_dual;
  const auto born_dual = [&](Vertex v) { return dual[class_of(v)]; };
  Edge best;
  double least = 0;
  bool first = true;
  for (const Vertex child : blossom(a).first_ring) {
    const Edge theirs = edge(child, b);
    const double gap = born_dual(theirs.u) + born_dual(theirs.v) - doubled(theirs);
    if (!first && !(gap < least) && joined(best)) continue;
    best = theirs;
    least = gap;
    first = false;
  }
  return best;
}

// Shrinks the odd cycle that the edge (u, v) closes, through their common ancestor, to one outer
// vertex.
void Matcher::shrink(Vertex u, Vertex base, Vertex v) {
  Vertex b = first_free_;
  while (b <= count_ && top_[b] != 0) ++b;
  count_ = std::max(count_, b);
  first_free_ = b + 1;
  Blossom& made = blossom(b);
  made.dual = 0;
  made.born = ++births_;
  mate_[b] = mate_[base];
  made.ring.assign(1, base);
  // From each end up to the base, an outer and an inner vertex at a time. The inner ones become
  // outer through the cycle, so their edges are scanned now, too.
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
  gather(b);
  set_top(b);
  mark_[b] = kOuter;
  tops_.push_back(b);
  made.born_dual.assign(dual_.begin(), dual_.begin() + classes_);
  adopt_edges(b);
  rebuild_best(b);
}

// Takes what is inside the children of a new blossom into it.
void Matcher::gather(Vertex b) {
  Blossom& made = blossom(b);
  const auto classes = static_cast<std::size_t>(classes_);
  made.count.assign(classes, 0);
  made.bits.assign(words_, 0);
  made.leaves.clear();
  made.ordered = true;
  Vertex only = 0;  // blossom among the children
  bool several = false;
  for (const Vertex child : made.ring) {
    // The inner ones get to be outer.
    if (mark_[child] == kInner) {
      tally(child, kInner, -1);
      tally(child, kOuter, 1);
      remove_bits(child, bits_[kInner].data());
      add_bits(child, bits_[kOuter].data());
    }
    add_bits(child, made.bits.data());
    set_best(child, 0, kInfinity);
    if (real(child)) {
      around_[child] = b;
      ++made.count[static_cast<std::size_t>(class_of(child))];
      continue;
    }
    top_[child] = b;
    tops_.erase(std::find(tops_.begin(), tops_.end(), child));
    several |= only != 0;
    only = child;
    const std::int32_t* const theirs = blossom(child).count.data();
    for (std::size_t c = 0; c < classes; ++c) made.count[c] += theirs[c];
  }
  // The leaves of an only one stay where they are, and move out with it again.
  if (several) {
    made.ordered = false;
    for (const Vertex child : made.ring) {
      if (real(child)) continue;
      const std::vector<Vertex>& leaves = blossom(child).leaves;
      made.leaves.insert(made.leaves.end(), leaves.begin(), leaves.end());
    }
  } else if (only != 0) {
    made.leaves.swap(blossom(only).leaves);
    made.ordered = blossom(only).ordered;
  }
  for (auto child = made.ring.rbegin(); child != made.ring.rend(); ++child) {
    if (real(*child)) made.leaves.push_back(*child);
  }
}

// The position of the child in the cycle, counted in the direction in which it is even: from there
// to the base the cycle alternates.
std::size_t Matcher::rotate_to(Vertex b, Vertex child) {
  std::vector<Vertex>& ring = blossom(b).ring;
  const auto position =
      static_cast<std::size_t>(std::find(ring.begin(), ring.end(), child) - ring.begin());
  // The cycle is odd, so exactly one of the two directions from the child to the base has even
  // length.
  if (position % 2 == 0) return position;
  std::reverse(ring.begin() + 1, ring.end());
  return ring.size() - position;
}

// Matches u with v, and inside of u all pairs of its cycle anew, down to real vertices.
void Matcher::match(Vertex u, Vertex v) {
  pending_.assign(1, {{u, v}, edge(u, v)});
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    const auto [pair, through] = pending_[i];
    mate_[pair.u] = through.v;
    if (real(pair.u)) continue;
    blossom(pair.u).ordered = false;
    const Vertex child = child_with(pair.u, through.u);
    const std::size_t position = rotate_to(pair.u, child);
    std::vector<Vertex>& ring = blossom(pair.u).ring;
    for (std::size_t j = 0; j < position; ++j) {
      pending_.push_back({{ring[j], ring[j ^ 1U]}, edge(ring[j], ring[j ^ 1U])});
    }
    // The edge of the younger of two is that of one of its children.
    const bool same = real(pair.v) || blossom(pair.v).born < blossom(pair.u).born;
    pending_.push_back({{child, pair.v}, same ? through : edge(child, pair.v)});
    std::rotate(ring.begin(), ring.begin() + static_cast<std::ptrdiff_t>(position), ring.end());
  }
}

// Exchanges matched and unmatched edges on the path from u to the root of its tree.
void Matcher::augment(Vertex u, Vertex v) {
  for (;;) {
    // The old mate of u is inner; it is rematched to its parent, one level closer to the root.
    const Vertex next = top_[mate_[u]];
    match(u, v);
    if (next == 0) return;
    match(next, top_[parent_[next]]);
    u = top_[parent_[next]];
    v = next;
  }
}

// An only child that is a blossom gets its leaves back: all but the real children.
void Matcher::hand_back_leaves(Vertex b) {
  Blossom& outside = blossom(b);
  Vertex only = 0;
  for (const Vertex child : outside.ring) {
    if (real(child)) continue;
    if (only != 0) return;
    only = child;
  }
  if (only == 0) return;
  Blossom& inside = blossom(only);
  inside.leaves.swap(outside.leaves);
  inside.leaves.resize(inside.leaves.size() - (outside.ring.size() - 1));
  inside.ordered = outside.ordered;
}

// Expands an inner blossom: the children on the even way from where the tree enters to its base
// stay in the tree, inner and outer in turn, the others leave it.
void Matcher::expand(Vertex b) {
  const std::vector<Vertex>& ring = blossom(b).ring;
  const Vertex entry = child_with(b, edge(b, parent_[b]).u);
  tops_.erase(std::find(tops_.begin(), tops_.end(), b));
  // The blossom's dual is 0, so its removal changes no slack.
  set_mark(b, kUntouched);
  hand_back_leaves(b);
  for (const Vertex child : ring) {
    mark_[child] = kUntouched;
    set_top(child);
    if (!real(child)) tops_.push_back(child);
  }
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
  // The rest of the cycle stays matched in pairs and leaves the tree.
  for (std::size_t i = position + 1; i < ring.size(); ++i) {
    set_mark(ring[i], kUntouched);
    rebuild_best(ring[i]);
  }
  top_[b] = 0;
  first_free_ = std::min(first_free_, b);
}

}  // namespace muster
