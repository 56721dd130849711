// Maximum-weight matching in a general graph: pairs of vertices, each vertex in at most one, with
// the largest sum of weights. Not every vertex needs a partner.
//
// The primal-dual blossom algorithm with a fixed order of scanning, so that among matchings of
// equal weight the same one is returned on every machine: the order is that of Muri (SIGCOMM'22),
// whose results depend on it. O(n^3) at worst; graphs whose vertices fall into few kinds cost far
// less. One object serves many graphs, one after another, and keeps its memory.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace muster {

struct MatchingOptions {
  // The search ends when a free vertex's dual value is within this relative distance of the last
  // step. 0 is exact; Muri uses 1e-5.
  double stop_tolerance = 0;
};

class Matcher {
 public:
  explicit Matcher(const MatchingOptions& options = {}) : options_(options) {}

  // A vertex per entry of `kinds`, which names its kind; `weights` is a table of kinds by kinds, by
  // row: the weight of an edge between a vertex of the row's kind and one of the column's. Zero or
  // less is no edge. (a, b) and (b, a) may differ by rounding. Returns each vertex's partner, or
  // -1.
  //
  // With weights that are no exact multiples of each other, rounding can leave two vertices that
  // disagree about their partner; see consistent_pairs().
  const std::vector<int>& solve(std::span<const int> kinds, std::span<const double> weights);

 private:
  using Vertex = std::int32_t;  // from 1; 0 is nobody; above n_ compound ones
  struct Edge {
    Vertex u = 0;
    Vertex v = 0;
  };

  void reset(std::span<const int> kinds, std::span<const double> weights);
  bool phase();
  bool scan(Vertex u);
  bool scan_row(Vertex u);
  void offer_to_compound(Vertex u, Vertex from, Vertex end);
  bool found(Edge edge);
  bool adjust();
  Vertex ancestor(Vertex u, Vertex v);
  void shrink(Vertex u, Vertex base, Vertex v);
  void adopt_edges(Vertex b, Vertex child);
  void expand(Vertex b);
  void augment(Vertex u, Vertex v);
  void match(Vertex u, Vertex v);
  std::size_t rotate_to(Vertex b, Vertex child);
  void set_top(Vertex x, Vertex top);
  void set_mark(Vertex x, signed char mark);
  void show_mark(Vertex v, signed char mark);
  void enqueue(Vertex x);
  void offer(Vertex u, Vertex x);
  void forget_best(Vertex x);
  void rebuild_best(Vertex x);
  void set_limit(Vertex x);

  // The real edge that stands for a pair. Pairs of real vertices stand for themselves; a compound
  // one remembers which of its vertices stands for it before each real one.
  Edge edge(Vertex a, Vertex b) const {
    if (a <= n_ && b <= n_) return {a, b};
    if (b <= n_) return {near_[row(a) + static_cast<std::size_t>(b)], b};
    if (a <= n_) return {a, near_[row(b) + static_cast<std::size_t>(a)]};
    return compound_edge(a, b);
  }
  Edge compound_edge(Vertex a, Vertex b) const;
  Vertex child_with(Vertex b, Vertex v) const {
    return b > n_ ? holder_[row(b) + static_cast<std::size_t>(v)] : b == v ? b : 0;
  }
  std::size_t row(Vertex compound) const {
    return static_cast<std::size_t>(compound - n_ - 1) * width_;
  }
  const double* weights_from(Vertex u) const {
    return &doubled_[static_cast<std::size_t>(kind_[u]) * width_];
  }
  bool joined(Edge e) const { return e.u != e.v && weights_from(e.u)[e.v] > 0; }
  double slack(Edge e) const { return label_[e.u] + label_[e.v] - doubled(e); }
  double doubled(Edge e) const { return e.u == e.v ? 0 : weights_from(e.u)[e.v]; }

  MatchingOptions options_;
  Vertex n_ = 0;      // real vertices
  Vertex count_ = 0;  // and compound ones in use
  std::size_t width_ = 0;
  std::vector<double> doubled_;         // [kind][v]: twice the weight, 0 where there is no edge
  std::vector<double> scanned_weight_;  // the same with minus infinity there
  std::vector<double> offered_weight_;  // [kind][v]: of the edge from v to that kind
  std::vector<Vertex> near_;            // [compound][v]: its vertex that stands for it before v
  std::vector<double> born_label_;      // [compound][v]: label of v when it was made
  std::vector<std::uint32_t> born_;     // by compound: the later, the larger
  std::uint32_t births_ = 0;
  std::vector<std::vector<Vertex>> first_ring_;  // its children in the order in which it was made
  std::vector<Vertex> holder_;                   // [compound][v]: the child that holds v
  std::vector<double> label_;
  std::vector<Vertex> top_;
  std::vector<Vertex> mate_;
  std::vector<Vertex> parent_;
  std::vector<Vertex> best_;
  std::vector<double> best_slack_;  // of edge (best_[x], x), current labels
  std::vector<double> limit_;       // of real vertices: a slack below it is news in a scan
  std::vector<signed char> mark_;   // -1 untouched, 0 outer, 1 inner
  // What the mark of a real vertex's top means for sums over all of them: infinity unless it is
  // outer; what a step does to its label; the part of its slack that bounds a step.
  std::vector<double> hidden_;
  std::vector<double> direction_;
  std::vector<double> share_;
  std::vector<Vertex> tops_;  // compound vertices that are in no other, in any order
  std::vector<std::uint32_t> seen_;
  std::uint32_t stamp_ = 0;
  std::vector<std::vector<Vertex>> ring_;
  std::vector<std::vector<Vertex>> leaves_;  // of compound ones: the real vertices inside
  std::vector<double> shrunk_;               // slack of the new compound vertex to each real one
  std::vector<double> adopted_;              // and twice the weight of that edge
  std::vector<Vertex> queue_;
  std::size_t head_ = 0;
  std::vector<Vertex> scratch_;
  std::vector<Edge> pending_;
  std::vector<int> kind_;
  // Vertices scanned since anything changed, one per (kind, label): an equal one finds nothing new.
  struct Scanned {
    int kind;
    double label;
    Vertex vertex;
  };
  std::vector<Scanned> scanned_;
  std::vector<int> result_;
};

// The pairs on which both partners agree, as (lower, higher).
std::vector<std::pair<int, int>> consistent_pairs(std::span<const int> mates);

}  // namespace muster
