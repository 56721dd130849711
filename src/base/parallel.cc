#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace muster {

unsigned machine_threads() { return std::max(1U, std::thread::hardware_concurrency()); }

void in_parallel(std::size_t count, unsigned threads,
                 const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  const auto take = [&] {
    for (std::size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) work(i);
  };
  const std::size_t wanted = threads > 0 ? threads : machine_threads();
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(wanted, count); ++i) others.emplace_back(take);
  take();
}

}  // namespace muster
