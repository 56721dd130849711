// LEMON's headers do not compile as C++20, so this file is C++17 and includes nothing of ours that
// needs more; see cmake/checks.cmake.
#include "lemon_matching.h"

#include <lemon/matching.h>
#include <lemon/smart_graph.h>

namespace muster {

long long lemon_matching_weight(int n, const std::vector<long long>& weights) {
  lemon::SmartGraph graph;
  std::vector<lemon::SmartGraph::Node> nodes;
  nodes.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) nodes.push_back(graph.addNode());
  lemon::SmartGraph::EdgeMap<long long> weight(graph);
  for (int u = 0; u < n; ++u) {
    for (int v = u + 1; v < n; ++v) {
      const long long w = weights[static_cast<std::size_t>(u) * static_cast<std::size_t>(n) +
                                  static_cast<std::size_t>(v)];
      if (w > 0)
        weight[graph.addEdge(nodes[static_cast<std::size_t>(u)],
                             nodes[static_cast<std::size_t>(v)])] = w;
    }
  }
  lemon::MaxWeightedMatching<lemon::SmartGraph, lemon::SmartGraph::EdgeMap<long long>> matching(
      graph, weight);
  matching.run();
  return matching.matchingWeight();
}

}  // namespace muster
