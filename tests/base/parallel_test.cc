#include "base/parallel.h"

#include <atomic>
#include <stdexcept>

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(InParallel, HandsAnExceptionToTheCallerAndBeginsNothingMore) {
  std::atomic<int> begun{0};
  const auto work = [&begun](std::size_t i) {
    ++begun;
    if (i < 4) throw std::runtime_error("broken");
  };
  EXPECT_THROW(in_parallel(1000, 4, work), std::runtime_error);
  EXPECT_LE(begun, 4);
}

}  // namespace
}  // namespace muster
