// Makers of the allocators that need no solver; rows in allocator_table().
#pragma once

#include "policy/gavel/allocator.h"

namespace muster {

std::unique_ptr<Allocator> make_gavel_isolated();
std::unique_ptr<Allocator> make_gavel_proportional();
std::unique_ptr<Allocator> make_gavel_gandiva(std::int64_t seed);
// `munkres`: of equally good assignments the one that older versions of SciPy find.
std::unique_ptr<Allocator> make_gavel_allox(double alpha, bool munkres = false);

enum class FifoMode { kAnyType, kBestType, kPacked };
// `published`: with the defects of the artifact, see docs/gavel.md.
std::unique_ptr<Allocator> make_gavel_fifo(FifoMode mode, std::int64_t seed, bool published,
                                           double threshold);

}  // namespace muster
