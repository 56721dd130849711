#include "agent/gpus/numa.h"

#include <sched.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/gpus/gpus.h"
#include "support/temporary_folder.h"

namespace muster {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A machine's /sys, as far as it tells of NUMA nodes.
class FakeSys : public ::testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) { folder_.write(name, text + "\n"); }
  void two_nodes() {
    put("devices/system/node/online", "0-1");
    put("devices/system/node/node0/cpulist", "0-3,8-11");
    put("devices/system/node/node1/cpulist", "4-7,12-15");
    put("bus/pci/devices/0000:3b:00.0/numa_node", "0");
    put("bus/pci/devices/0000:af:00.0/numa_node", "1");
    put("bus/pci/devices/0000:d8:00.0/numa_node", "-1");
  }
  std::filesystem::path sys() const { return folder_.path(); }

  TemporaryFolder folder_;
};

TEST(CpuList, IsReadAsTheKernelWritesIt) {
  EXPECT_THAT(parse_cpu_list("0-3,8\n"), ElementsAre(0, 1, 2, 3, 8));
  EXPECT_THAT(parse_cpu_list("5"), ElementsAre(5));
  for (const char* wrong : {"", "3-1", "a", "0-", "-1", "1,,2", "0-99999999"}) {
    EXPECT_THAT(parse_cpu_list(wrong), IsEmpty()) << wrong;
  }
}

TEST_F(FakeSys, ProcessorsOfTheNodeAreNearTheGpu) {
  two_nodes();
  EXPECT_THAT(cpus_near("0000:3b:00.0", sys()), ElementsAre(0, 1, 2, 3, 8, 9, 10, 11));
  EXPECT_THAT(cpus_near("0000:af:00.0", sys()), ElementsAre(4, 5, 6, 7, 12, 13, 14, 15));
  EXPECT_THAT(cpus_near("0000:d8:00.0", sys()), IsEmpty()) << "it does not know";
  EXPECT_THAT(cpus_near("0000:00:00.0", sys()), IsEmpty()) << "there is none";
  EXPECT_THAT(cpus_near("", sys()), IsEmpty());
}

TEST_F(FakeSys, OneNodeLeavesNothingToChoose) {
  two_nodes();
  put("devices/system/node/online", "0");
  EXPECT_THAT(cpus_near("0000:3b:00.0", sys()), IsEmpty());
  EXPECT_THAT(cpus_near_gpus({"0000:3b:00.0"}, sys()), IsEmpty());
}

TEST_F(FakeSys, OnlyProcessorsThatThisProcessMayUseCount) {
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  int first = 0;
  while (CPU_ISSET(static_cast<std::size_t>(first), &set) == 0) ++first;
  two_nodes();
  put("devices/system/node/node0/cpulist", std::to_string(first) + ",1000-1023");
  put("devices/system/node/node1/cpulist", "1000-1023");
  const auto by_gpu = cpus_near_gpus({"0000:3b:00.0", "0000:af:00.0"}, sys());
  ASSERT_EQ(by_gpu.size(), 2);
  EXPECT_THAT(by_gpu[0], ElementsAre(first));
  EXPECT_THAT(by_gpu[1], IsEmpty());
}

TEST(CpusNearAll, IsTheUnionOrAll) {
  const std::vector<std::vector<int>> by_gpu = {{0, 1}, {0, 1}, {2, 3}, {}};
  EXPECT_THAT(cpus_near_all(by_gpu, {0, 1}), ElementsAre(0, 1));
  EXPECT_THAT(cpus_near_all(by_gpu, {2, 0}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(cpus_near_all(by_gpu, {0, 3}), IsEmpty());
  EXPECT_THAT(cpus_near_all(by_gpu, {7}), IsEmpty());
  EXPECT_THAT(cpus_near_all({}, {0}), IsEmpty());
}

TEST_F(FakeSys, TheDriverIsLookedForBesideNvidiaSmi) {
  put("driver/bin/nvidia-smi", "#!/bin/sh");
  std::filesystem::permissions(sys() / "driver/bin/nvidia-smi", std::filesystem::perms::owner_all);
  std::filesystem::create_directories(sys() / "links");
  std::filesystem::create_symlink(sys() / "driver/bin/nvidia-smi", sys() / "links/nvidia-smi");
  const auto files = nvml_files("/nowhere::" + (sys() / "links").string());
  EXPECT_EQ(files.front(), "libnvidia-ml.so.1") << "the loader's own path comes first";
  const std::filesystem::path real = std::filesystem::canonical(sys());
  EXPECT_THAT(files, Contains((real / "driver/lib64/libnvidia-ml.so.1").string()));
  EXPECT_THAT(files, Contains((real / "driver/bin/libnvidia-ml.so.1").string()));
}

}  // namespace
}  // namespace muster
