// Maximum-weight matching in a general graph: pairs of vertices, each vertex in at most one, with
// the largest sum of weights. Not every vertex needs a mate.
//
// Edmonds' primal-dual blossom algorithm ("Maximum matching and a polyhedron with 0,1-vertices",
// 1965; the O(n^3) form of Gabow 1976 and of Galil, "Efficient algorithms for finding maximum
// matching in graphs", 1986). Every vertex has a dual variable, and so has every blossom, an odd
// cycle that is shrunk to one vertex. The slack of an edge is the sum of its duals less twice its
// weight; an edge of slack 0 is tight. A phase grows alternating trees from the free vertices along
// tight edges: vertices at an even distance from a root are outer, at an odd one inner. An edge
// between two outer vertices of one tree closes a blossom, between two trees an augmenting path,
// which adds a pair and ends the phase. Where no tight edge is left, the duals are moved, down for
// outer vertices and up for inner ones, until one becomes tight or an inner blossom's dual is 0 and
// it is expanded.
//
// Invariants: no edge has negative slack; matched edges and those of blossoms are tight; duals of
// blossoms are not negative. So by complementary slackness the matching is of maximum weight once
// the duals of free vertices are 0.
//
// Edges are scanned in a fixed order, so that among matchings of equal weight the same one is
// returned on every machine: the order is that of Muri (SIGCOMM'22), whose results depend on it.
// Vertices of one kind keep equal duals for as long as the search treats them alike, so duals,
// slacks and the edges of blossoms are kept by class of such vertices, not by vertex: O(n^3) at
// worst, and far less for graphs with few kinds. One object serves many graphs, one after another,
// and keeps its memory.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace muster {

struct MatchingOptions {
  // The search ends when a free vertex's dual value is within this relative distance of the last
  // step. 0 is exact; the simulator of Muri stops at 1e-5, without which its figures are the same.
  double stop_tolerance = 0;
};

class Matcher {
 public:
  explicit Matcher(const MatchingOptions& options = {}) : options_(options) {}

  // A vertex per entry of `kinds`, which names its kind; `weights` is a table of kinds by kinds, by
  // row: the weight of an edge between a vertex of the row's kind and one of the column's. Zero or
  // less is no edge. (a, b) and (b, a) may differ by rounding. Returns each vertex's mate, or -1.
  //
  // With weights that are no exact multiples of each other, rounding can leave two vertices that
  // disagree about their mate; see consistent_pairs().
  const std::vector<int>& solve(std::span<const int> kinds, std::span<const double> weights);

 private:
  using Vertex = std::int32_t;  // from 1; 0 is none; above n_ blossoms
  using Class = std::int32_t;
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  enum Mark : std::int8_t { kUntouched, kOuter, kInner };
  struct Edge {
    Vertex u = 0;
    Vertex v = 0;
  };
  // The last of a class that was scanned without finding anything, and when.
  struct Scanned {
    std::uint64_t when = 0;
    Vertex vertex = 0;
    bool offered = false;  // to it, by another of the class
  };
  // An outer vertex with edges that are not tight to all real ones in [from, end) that are in no
  // blossom and not inner.
  struct Offer {
    Vertex u = 0;
    Vertex from = 0;
    Vertex end = 0;
    std::uint32_t next = 0;  // by a vertex of the same class
  };
  static constexpr std::uint32_t kNoOffer = std::numeric_limits<std::uint32_t>::max();
  struct RankedClass {
    double gap = 0;
    Class of = 0;
  };
  // A blossom: an odd cycle of vertices and of other blossoms. What it knows of the vertices
  // outside, it knows by class.
  struct Blossom {
    double dual = 0;
    std::vector<Vertex> ring;
    std::vector<Vertex> first_ring;  // in the order in which it was made
    // The real vertices inside, the last first; not of one that is the only blossom in the
    // ring of another, which has them among its own.
    std::vector<Vertex> leaves;
    bool ordered = false;             // whether they are in the order of the rings
    std::vector<std::uint64_t> bits;  // a bit for each of them
    std::vector<std::int32_t> count;  // leaves by class
    std::vector<Vertex> near;         // by class: the leaf that stands for it before that class
    std::vector<double> born_dual;    // by class: the dual when it was made
    std::uint32_t born = 0;           // the later, the larger
  };

  void reset(std::span<const int> kinds, std::span<const double> weights);
  bool phase();
  void start_from_free();
  bool scan(Vertex u);
  Vertex next_tight(Vertex u, Vertex from) const;
  bool repeats(Vertex u);
  void skip_repeated();
  void settle_offers();
  void take_best_offer(Vertex v);
  void take_offer(Vertex b, const Offer& offer);
  bool found(Edge edge);
  bool follow_best();
  Vertex next_with_tight_best(Vertex from) const;
  Vertex next_to_expand(Vertex from) const;
  bool adjust();
  void set_gaps();
  void list_tight_classes(Class from);
  double longest_step();
  bool ends_search(double step) const;
  void split_mixed_classes();
  void split(Class from, Mark mark);
  void make_room();
  Vertex ancestor(Vertex u, Vertex v);
  void shrink(Vertex u, Vertex base, Vertex v);
  void gather(Vertex b);
  void adopt_edges(Vertex b);
  void expand(Vertex b);
  void augment(Vertex u, Vertex v);
  void match(Vertex u, Vertex v);
  std::size_t rotate_to(Vertex b, Vertex child);
  void set_top(Vertex x);
  void set_mark(Vertex x, Mark mark) {
    if (mark_[x] == mark) return;
    tally(x, mark_[x], -1);
    remove_bits(x, bits_[mark_[x]].data());
    mark_[x] = mark;
    tally(x, mark, 1);
    add_bits(x, bits_[mark].data());
  }
  // Counts the members of classes inside x that have this mark now, and no more, or the other way.
  void tally(Vertex x, Mark mark, std::int32_t sign) {
    std::int32_t* const marked = marked_[mark].data();
    if (real(x)) {
      marked[class_of(x)] += sign;
      return;
    }
    const std::int32_t* const count = blossom(x).count.data();
    for (Class c = 0; c < classes_; ++c) marked[c] += sign * count[c];
  }
  // Sets the bits of the real vertices that are x, or in it.
  void add_bits(Vertex x, std::uint64_t* to) const {
    if (real(x)) {
      to[x / 64] |= bit(x);
      return;
    }
    const std::uint64_t* const inside = blossom(x).bits.data();
    for (std::size_t i = 0; i < words_; ++i) to[i] |= inside[i];
  }
  void remove_bits(Vertex x, std::uint64_t* from) const {
    if (real(x)) {
      from[x / 64] &= ~bit(x);
      return;
    }
    const std::uint64_t* const inside = blossom(x).bits.data();
    for (std::size_t i = 0; i < words_; ++i) from[i] &= ~inside[i];
  }
  std::uint64_t word_of(Vertex x, std::size_t i) const {
    if (!real(x)) return blossom(x).bits[i];
    return static_cast<std::size_t>(x / 64) == i ? bit(x) : 0;
  }
  void enqueue(Vertex x);
  void put_leaves_in_order(Vertex b);
  void hand_back_leaves(Vertex b);
  void set_slack(Vertex x, double slack) {
    best_slack_[x] = slack;
    std::uint64_t& word = tight_[static_cast<std::size_t>(x / 64)];
    word = slack <= 0 ? word | bit(x) : word & ~bit(x);
  }
  void set_best(Vertex x, Vertex u, double slack) {
    best_[x] = u;
    set_slack(x, slack);
    since_[x] = static_cast<std::uint32_t>(offers_.size());
  }
  void rebuild_best(Vertex x);
  Vertex first_outer(Class c, Vertex outside) const;

  static std::uint64_t bit(Vertex x) { return std::uint64_t{1} << (x % 64); }
  bool real(Vertex x) const { return x <= n_; }
  Blossom& blossom(Vertex b) { return blossoms_[static_cast<std::size_t>(b - n_ - 1)]; }
  const Blossom& blossom(Vertex b) const { return blossoms_[static_cast<std::size_t>(b - n_ - 1)]; }
  Class class_of(Vertex v) const { return class_[static_cast<std::size_t>(v)]; }
  // How many members of a class are x, or in it.
  std::int32_t count_in(Vertex x, Class c) const {
    return real(x) ? (class_of(x) == c ? 1 : 0) : blossom(x).count[c];
  }

  // The real edge that stands for a pair. Pairs of real vertices stand for themselves.
  Edge edge(Vertex a, Vertex b) const {
    if (real(a) && real(b)) return {a, b};
    if (real(b)) return {blossom(a).near[class_of(b)], b};
    if (real(a)) return {a, blossom(b).near[class_of(a)]};
    return blossom_edge(a, b);
  }
  Edge blossom_edge(Vertex a, Vertex b) const;
  Vertex child_with(Vertex b, Vertex v) const;
  // Of edges from a class to every other, by class: twice the weight, 0 where there is no edge; and
  // the slack (the gap), infinite there.
  const double* doubled_from(Class c) const { return &doubled_[c * stride_]; }
  const double* gap_from(Class c) const { return &gap_[c * stride_]; }
  double doubled(Edge e) const {
    return e.u == e.v ? 0 : doubled_from(class_of(e.u))[class_of(e.v)];
  }
  bool joined(Edge e) const { return doubled(e) > 0; }
  double slack(Edge e) const { return dual_[class_of(e.u)] + dual_[class_of(e.v)] - doubled(e); }

  MatchingOptions options_;
  Vertex n_ = 0;      // real vertices
  Vertex count_ = 0;  // and blossoms in use
  // Classes: vertices of one kind whose dual variables have always been equal.
  Class classes_ = 0;
  std::size_t stride_ = 0;                           // of tables with a row and a column per class
  std::vector<Class> class_;                         // of real vertices
  std::vector<std::vector<Vertex>> members_;         // by class, ascending
  std::size_t words_ = 0;                            // of a bit for each real vertex
  std::vector<std::uint64_t> member_bits_;           // [class][]: the same
  std::vector<double> dual_;                         // by class
  bool low_duals_ = false;                           // whether one is 0 or less
  std::vector<double> doubled_;                      // [class][class]
  std::vector<double> reach_;                        // the same, minus infinity where there is none
  std::vector<double> gap_;                          // [class][class], current dual variables
  std::array<std::vector<std::int32_t>, 3> marked_;  // [mark][class]: members whose tops have it
  std::array<std::vector<std::uint64_t>, 3> bits_;   // [mark]: a bit for each real one in them
  std::vector<Class> tight_classes_;                 // [class][]: to which it has tight edges
  std::vector<std::int32_t> tight_count_;  // by class: how many those are; -1: not listed yet
  std::vector<Scanned> scanned_;           // by class
  std::uint64_t changes_ = 0;
  std::vector<Blossom> blossoms_;
  Vertex first_free_ = 0;  // no number of a blossom below it is free
  std::uint32_t births_ = 0;
  std::vector<Vertex> top_;     // of a blossom inside another: the one around it
  std::vector<Vertex> around_;  // of a real one inside another: the one around it
  std::vector<Vertex> mate_;
  std::vector<Vertex> parent_;
  std::vector<Vertex> best_;
  std::vector<double> best_slack_;          // of edge (best_[x], x), current dual variables
  std::vector<std::uint64_t> tight_;        // a bit for each whose best slack is 0 or less
  std::vector<Offer> offers_;               // what best_ does not know yet
  std::vector<std::uint32_t> since_;        // offers before that do not count
  std::vector<std::uint32_t> first_offer_;  // by class
  std::vector<Class> offering_;             // classes with offers
  std::vector<RankedClass> ranked_;         // of these, from the least gap to some class on
  std::vector<Mark> mark_;
  std::vector<Vertex> tops_;  // blossoms that are in no other, in any order
  std::vector<std::uint32_t> seen_;
  std::uint32_t stamp_ = 0;
  std::vector<double> shrunk_;            // by class: slack of the new blossom
  std::vector<Class> tied_;               // classes of equal slack
  std::vector<double> adopted_;           // and twice the weight of that edge
  std::vector<Vertex> free_;              // single vertices without a mate, ascending
  std::vector<std::uint64_t> free_bits_;  // a bit for each
  std::vector<Mark> free_mark_;           // outer for each
  std::vector<std::int32_t> free_count_;  // by class
  std::vector<Vertex> queue_;
  std::size_t head_ = 0;
  std::vector<Vertex> scratch_;
  struct Pairing {
    Edge pair;
    Edge through;  // the real edge that stands for it
  };
  std::vector<Pairing> pending_;
  std::vector<int> result_;
};

// The pairs on which both mates agree, as (lower, higher).
std::vector<std::pair<int, int>> consistent_pairs(std::span<const int> mates);

}  // namespace muster
