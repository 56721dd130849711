// The weight of a maximum-weight matching by another library, to compare with.
#pragma once

#include <vector>

namespace muster {

// `weights` is an n x n table by row; only the upper half is read; 0 is no edge.
long long lemon_matching_weight(int n, const std::vector<long long>& weights);

}  // namespace muster
