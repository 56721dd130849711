// Large problems in parts (POP, SOSP'21): jobs and GPUs are split, and each part is allocated on
// its own. Faster, and almost as good where parts have many jobs; `muster bench policy-runtime
// --parts` says how good.
#pragma once

#include "policy/gavel/allocator.h"

namespace muster {

struct ProblemPart {
  AllocationProblem problem;
  std::vector<std::size_t> jobs;   // positions in the whole
  std::vector<std::size_t> pairs;  // likewise; pairs across parts are lost
};
// Jobs by their id modulo the number of parts; GPUs evenly, the rest to the first parts. No more
// parts than there are GPUs of the most frequent type.
std::vector<ProblemPart> split_problem(const AllocationProblem& whole, std::size_t parts);
void put_back(const ProblemPart& part, const Allocation& from, Allocation& whole);

std::unique_ptr<Allocator> make_gavel_split(std::unique_ptr<Allocator> each, std::size_t parts);

}  // namespace muster
