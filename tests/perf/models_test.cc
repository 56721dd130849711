#include "workload/perf/models.h"

#include <gtest/gtest.h>

#include "perf/product.h"
#include "perf/restart_cost.h"
#include "run/config/plugin_tables.h"
#include "support/simulation.h"

namespace muster {
namespace {

RunContext on(int gpus, int nodes = 1, int racks = 1) {
  RunContext context;
  context.gpus = gpus;
  context.nodes = nodes;
  context.racks = racks;
  return context;
}

TEST(Ideal, IsOneEverywhere) {
  Symbols symbols;
  const auto model = make_perf({"ideal"}, symbols);
  EXPECT_EQ(model->rate(job_of(0, 1, 4), on(1)), 1);
  EXPECT_EQ(model->rate(job_of(0, 1, 4), on(4, 4, 2)), 1);
}

TEST(Scaling, FollowsAmdahl) {
  Symbols symbols;
  const auto model = make_perf({"scaling", {{"serial", "0.5"}}}, symbols);
  const JobSpec job = job_of(0, 1, 2);
  EXPECT_DOUBLE_EQ(model->rate(job, on(2)), 1);
  // Speed-up 1 / (0.5 + 0.5 / n): 1 on one, 4/3 on two, 1.6 on four.
  EXPECT_DOUBLE_EQ(model->rate(job, on(1)), 0.75);
  EXPECT_DOUBLE_EQ(model->rate(job, on(4)), 1.2);
}

TEST(Locality, CostsSpeedAcrossNodesAndRacks) {
  Symbols symbols;
  const auto model =
      make_perf({"locality", {{"across_nodes", "0.2"}, {"across_racks", "0.5"}}}, symbols);
  EXPECT_EQ(model->rate(job_of(0, 1, 4), on(4)), 1);
  EXPECT_EQ(model->rate(job_of(0, 1, 4), on(4, 2)), 0.8);
  EXPECT_EQ(model->rate(job_of(0, 1, 4), on(4, 2, 2)), 0.5);
}

TEST(Locality, MayConcernSomeModelsOnly) {
  Symbols symbols;
  const auto model = make_perf({"locality", {{"models", "vgg, lstm"}}}, symbols);
  JobSpec job = job_of(0, 1, 4);
  job.model = symbols.intern("lstm");
  EXPECT_EQ(model->rate(job, on(4, 2)), 0.9);
  job.model = symbols.intern("resnet");
  EXPECT_EQ(model->rate(job, on(4, 2)), 1);
}

TEST(GpuTypes, HaveTheSpeedsGiven) {
  Symbols symbols;
  const auto model = make_perf({"gpu-types", {{"speeds", "v100=1, k80=0.25"}}}, symbols);
  RunContext context = on(1);
  EXPECT_EQ(model->rate(job_of(0, 1), context), 1);
  context.gpu_type = symbols.find("k80");
  EXPECT_EQ(model->rate(job_of(0, 1), context), 0.25);
}

TEST(GpuTypes, RefuseWhatIsNoSpeed) {
  Symbols symbols;
  const PerfInfo* row = *find_row("performance model", plugin_tables().perf, "gpu-types");
  for (const char* wrong : {"v100", "v100=", "v100=0", "v100=-1", "v100=inf", "v100=nan", "=x"}) {
    const auto params = Params::make("gpu-types", row->params, {{"speeds", wrong}});
    ASSERT_TRUE(params);
    const auto made = row->make(*params, symbols);
    ASSERT_FALSE(made) << wrong;
    EXPECT_NE(made.error().message.find(wrong), std::string::npos) << made.error().message;
  }
}

TEST(Sharing, CostsSpeedPerNeighbour) {
  Symbols symbols;
  const auto model = make_perf({"sharing", {{"loss", "0.25"}}}, symbols);
  const JobSpec job = job_of(0, 1);
  const JobSpec* neighbours[] = {&job, &job};
  RunContext context = on(1);
  EXPECT_EQ(model->rate(job, context), 1);
  context.neighbours = neighbours;
  EXPECT_DOUBLE_EQ(model->rate(job, context), 0.75 * 0.75);
}

TEST(CpuProfiles, InterpolateTheMeasuredSpeeds) {
  Symbols symbols;
  const auto model = make_perf({"cpu-profiles"}, symbols);
  JobSpec job = job_of(0, 1, 2);
  job.model = symbols.intern("res50");
  RunContext context = on(2);
  EXPECT_EQ(model->rate(job, context), 1) << "where nobody counts cores, they are plentiful";
  context.host.cpus_per_gpu = 3;
  EXPECT_DOUBLE_EQ(model->rate(job, context), 1);
  context.host.cpus_per_gpu = 1.5;
  EXPECT_DOUBLE_EQ(model->rate(job, context), (0.4 + 0.74) / 2);
  context.host.cpus_per_gpu = 0.5;
  EXPECT_DOUBLE_EQ(model->rate(job, context), 0.2);
  context.host.cpus_per_gpu = 1000;
  EXPECT_DOUBLE_EQ(model->rate(job, context), 1.15);
  EXPECT_EQ(model->wanted_host(job).cpus_per_gpu, 4);
  job.cpus = 20;
  EXPECT_EQ(model->wanted_host(job).cpus_per_gpu, 10);
}

TEST(Product, MultipliesRatesAndTakesTheLargestRequest) {
  Symbols symbols;
  std::vector<std::unique_ptr<PerfModel>> models;
  models.push_back(make_perf({"locality", {{"across_nodes", "0.5"}}}, symbols));
  models.push_back(make_perf({"cpu-profiles"}, symbols));
  const auto product = multiply(std::move(models));
  JobSpec job = job_of(0, 1, 2);
  job.model = symbols.intern("alexnet");
  RunContext context = on(2, 2);
  context.host.cpus_per_gpu = 12;
  EXPECT_DOUBLE_EQ(product->rate(job, context), 0.5 * 2.94);
  EXPECT_EQ(product->wanted_host(job).cpus_per_gpu, 12);
  EXPECT_EQ(multiply({})->rate(job, context), 1);
}

// A factor that slows all jobs down hides nothing of what another one knows.
TEST(Product, PassesOnWhatItsPartsKnow) {
  Symbols symbols;
  const auto plain = make_perf({"locality", {{"across_nodes", "0.5"}}}, symbols);
  EXPECT_EQ(plain->knowledge().steps, nullptr);
  EXPECT_EQ(plain->knowledge().profiles, nullptr);
  std::vector<std::unique_ptr<PerfModel>> models;
  models.push_back(make_perf({"locality", {{"across_nodes", "0.5"}}}, symbols));
  models.push_back(make_perf({"interleave"}, symbols));
  const auto product = multiply(std::move(models));
  EXPECT_NE(product->knowledge().interleaving, nullptr);
  EXPECT_EQ(product->knowledge().scaling, nullptr);
  JobSpec job = job_of(0, 100, 2);
  job.iterations = 50;
  job.step_ms = 1000;
  job.stage_ms = {100, 200, 600, 100};
  EXPECT_EQ(steps_of(*product, job), 50);
  EXPECT_DOUBLE_EQ(step_time_of(*product, job, on(2, 2)),
                   2 * step_time_of(*product, job, on(2, 1)));
  // Where nobody counts steps, one is a second of undisturbed run.
  EXPECT_EQ(steps_of(*plain, job), 100);
  EXPECT_DOUBLE_EQ(step_time_of(*plain, job, on(2, 2)), 2);
}

TEST(RunContext, CountsNodesAndRacks) {
  ClusterSpec spec = uniform_cluster(4, 4);
  spec.nodes[2].rack = spec.nodes[3].rack = 7;
  spec.nodes[0].gpu_type = Symbol{5};
  const ClusterState cluster(std::make_shared<const ClusterSpec>(spec));
  GpuSet gpus;
  gpus.add(NodeId{0}, 0b11);
  EXPECT_EQ(run_context_of(cluster, gpus, {}).racks, 1);
  EXPECT_EQ(run_context_of(cluster, gpus, {}).gpu_type, Symbol{5});
  gpus.add(NodeId{2}, 0b1);
  gpus.add(NodeId{3}, 0b1);
  const RunContext context = run_context_of(cluster, gpus, {2, 3});
  EXPECT_EQ(context.gpus, 4);
  EXPECT_EQ(context.nodes, 3);
  EXPECT_EQ(context.racks, 2);
  EXPECT_EQ(context.host.cpus_per_gpu, 2);
}

TEST(RestartCost, PrefersTheExactRow) {
  RestartCost cost;
  cost.restart = 10;
  EXPECT_EQ(cost.restart_of(Symbol{1}, 4), 10);
  cost.by_model[{Symbol{1}, 0}] = 20;
  cost.by_model[{Symbol{1}, 4}] = 30;
  EXPECT_EQ(cost.restart_of(Symbol{1}, 4), 30);
  EXPECT_EQ(cost.restart_of(Symbol{1}, 2), 20);
  EXPECT_EQ(cost.restart_of(Symbol{2}, 4), 10);
}

}  // namespace
}  // namespace muster
