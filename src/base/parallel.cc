#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace muster {

unsigned machine_threads() { return std::max(1U, std::thread::hardware_concurrency()); }

void in_parallel(std::size_t count, unsigned threads,
                 const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;  // the first one, for the caller
  const auto take = [&] {
    try {
      for (std::size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) work(i);
    } catch (...) {
      next = count;
      const std::scoped_lock lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  const std::size_t wanted = threads > 0 ? threads : machine_threads();
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(wanted, count); ++i) others.emplace_back(take);
  take();
  others.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace muster
