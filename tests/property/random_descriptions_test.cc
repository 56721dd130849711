// Any description of a run, drawn from all rows of all tables with parameters within their bounds,
// either is refused before the run with a reason or keeps every invariant after every turn. The
// build of the tests checks invariants in the engine itself and aborts where one is broken.
// MUSTER_SEEDS says how many are tried, MUSTER_SEED runs a single one.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text.h"
#include "property/told_on_abort.h"
#include "run/assembly/simulation.h"
#include "run/config/declarations.h"
#include "run/config/plugins.h"
#include "support/temporary_folder.h"
#include "workload/generate/generators.h"
#include "workload/trace_writer.h"

namespace muster {
namespace {

bool names_files(const PluginRow& row) {
  constexpr std::string_view kFiles[] = {"trace", "log",  "throughputs", "profiles",
                                         "pairs", "file", "folder",      "models_file"};
  return std::any_of(row.params->begin(), row.params->end(), [&](const ParamInfo& info) {
    return info.kind == ParamKind::kText && info.initial.empty() &&
           std::find(std::begin(kFiles), std::end(kFiles), info.name) != std::end(kFiles);
  });
}

// A number within the bounds, mostly not far from the default. Of policies that search or solve it
// stays close to it: it may be how long or how often they do so.
std::string any_number(const ParamInfo& info, bool searches, Random& random) {
  const double initial = parse_real(info.initial).value_or(1);
  const bool whole = info.kind == ParamKind::kInteger;
  double value = std::isfinite(initial)
                     ? initial * random.log_uniform(searches ? -0.3 : -1, searches ? 0 : 1)
                     : random.log_uniform(0, 4);
  if (initial == 0) value = random.uniform(0, whole ? 3 : 1);
  if (!searches && random.chance(0.1) && std::isfinite(info.least)) value = info.least;
  if (!searches && random.chance(0.05) && std::isfinite(info.most)) value = info.most;
  constexpr double kLarge = 1e4;  // a million users take seconds to draw
  value = std::clamp(value, info.least, std::max(info.least, std::min(info.most, kLarge)));
  if (whole) value = std::clamp(std::round(value), std::ceil(info.least), std::floor(info.most));
  return exact_text(value);
}

Choice any_choice(std::string_view kind, Random& random) {
  const std::vector<PluginRow>& rows = plugin_kind(kind).rows;
  const PluginRow* row = nullptr;
  do {
    row = &rows[random.below(rows.size())];
  } while (names_files(*row));
  Choice choice{std::string(row->name)};
  const auto declared = declaration_of(kind, choice);
  const bool searches = declared && std::find(declared->does.begin(), declared->does.end(),
                                              "optimises") != declared->does.end();
  for (const ParamInfo& info : *row->params) {
    if (!random.chance(searches ? 0.6 : 0.3)) continue;
    std::string& value = choice.params[std::string(info.name)];
    if (info.kind == ParamKind::kFlag) {
      value = random.chance(0.5) ? "true" : "false";
    } else if (!info.choices.empty()) {
      value = std::string(info.choices[random.below(info.choices.size())]);
    } else if (info.kind == ParamKind::kReal || info.kind == ParamKind::kInteger) {
      value = any_number(info, searches, random);
    } else {
      choice.params.erase(std::string(info.name));  // free text has no bounds to draw from
    }
  }
  return choice;
}

RunConfig any_description(std::uint64_t seed) {
  Random random(seed, "description");
  RunConfig config;
  config.seed = static_cast<long long>(seed);
  config.workload.generator = any_choice("generator", random);
  config.workload.limit = random.integer(1, 30);
  constexpr std::array kShapes = {"1x8", "3x8", "2x4", "5x2", "16x8", "2x8:v100,2x4:k80"};
  config.cluster.shape = kShapes[random.below(kShapes.size())];
  config.scheduling = any_choice("scheduling", random);
  config.placement = any_choice("placement", random);
  config.admission = any_choice("admission", random);
  config.pacing = any_choice("pacing", random);
  // Turns of a second would make thousands of programs to solve.
  for (const ParamInfo& info : *(*find_plugin(plugin_kind("pacing"), config.pacing.name))->params) {
    constexpr std::array kLengths = {"30", "60", "300"};
    if (info.name == "length") config.pacing.params["length"] = kLengths[random.below(3)];
  }
  if (random.chance(0.05)) config.progress = any_choice("progress", random);
  if (random.chance(0.1)) config.accounting = any_choice("accounting", random);
  if (random.chance(0.05)) config.execution = any_choice("execution", random);
  while (random.chance(0.4)) config.perf.push_back(any_choice("perf", random));
  if (random.chance(0.1)) config.scaling = any_choice("scaling", random);
  if (random.chance(0.1)) {
    config.selector = any_choice("selector", random);
    for (int i = 0; i < 2; ++i) {
      config.policy_sets.push_back({any_choice("admission", random),
                                    any_choice("scheduling", random),
                                    any_choice("placement", random)});
    }
  }
  if (random.chance(0.3)) {
    config.failures.node_mtbf = random.log_uniform(3, 6);
    config.failures.node_repair = random.log_uniform(1, 4);
  }
  if (random.chance(0.3)) config.restart.restart = random.uniform(0, 20);
  // Turns are not counted but bounded in time: what takes turns of seconds would take for ever.
  config.engine.until = 20'000;
  return config;
}

// The jobs of the description as a trace, with CPU cores and memory that they ask for; false where
// the generator refuses its parameters.
bool write_with_host(const RunConfig& config, const std::string& path, Random& random) {
  const auto generator = find_generator(config.workload.generator.name);
  if (!generator) return false;
  const auto params =
      Params::make("generator", (*generator)->params(), config.workload.generator.params);
  if (!params) return false;
  Symbols symbols;
  const auto drawn = (*generator)->make(*params, symbols);
  if (!drawn) return false;
  auto writer = create_trace(path, "muster", symbols);
  EXPECT_TRUE(writer);
  JobSource& source = *drawn->source;
  for (long long i = 0; i < config.workload.limit && source.peek() != nullptr; ++i) {
    JobSpec job = *source.peek();
    source.pop();
    if (random.chance(0.6)) job.cpus = random.uniform(0, 6) * job.gpus;
    if (random.chance(0.4)) job.memory_gb = random.uniform(0, 40) * job.gpus;
    EXPECT_TRUE((*writer)->write(job));
  }
  return bool((*writer)->finish());
}

// In a part of the draws nodes say how many CPU cores and how much memory they have, and jobs ask
// for some; and GPUs fail one by one, jobs save their work now and then, and policies believe in
// another performance model than the one that holds.
void add_more(RunConfig& config, const TemporaryFolder& folder, std::uint64_t seed) {
  Random random(seed, "more of a description");
  if (random.chance(0.1)) {
    config.failures.gpu_mtbf = random.log_uniform(3, 6);
    config.failures.gpu_repair = random.log_uniform(1, 4);
  }
  if (random.chance(0.1)) config.restart.checkpoint_interval = random.log_uniform(0, 4);
  if (random.chance(0.1)) config.beliefs.push_back(any_choice("perf", random));
  if (!random.chance(0.4)) return;
  const std::string path = (folder.path() / fmt::format("{}.csv", seed)).string();
  if (!write_with_host(config, path, random)) return;
  config.workload.trace = path;
  config.workload.format = "muster";
  config.workload.generator = {};
  config.cluster.shape.clear();
  const auto kinds = random.integer(1, 2);
  for (std::int64_t i = 0; i < kinds; ++i) {
    config.cluster.text += fmt::format("[[nodes]]\ncount = {}\ngpus = {}\n", random.integer(1, 6),
                                       1 << random.integer(0, 3));
    if (random.chance(0.8))
      config.cluster.text += fmt::format("cpus = {}\n", random.integer(1, 40));
    if (random.chance(0.6)) {
      config.cluster.text += fmt::format("memory_gb = {}\n", random.integer(8, 400));
    }
  }
  config.engine.count_host = random.chance(0.9);
}

enum class Fate { kRan, kRefused };

// Fails the test where a run neither is refused with a reason nor comes to its end.
Fate try_description(std::uint64_t seed, const TemporaryFolder& folder) {
  RunConfig drawn = any_description(seed);
  add_more(drawn, folder, seed);
  std::string& described = ToldOnAbort::what;
  described =
      fmt::format("\nMUSTER_SEED={}: -g {} --jobs-limit {} -c {} -s {} -p {} -a {} --pacing {}{}\n",
                  seed, drawn.workload.generator.text(), drawn.workload.limit, drawn.cluster.shape,
                  drawn.scheduling.text(), drawn.placement.text(), drawn.admission.text(),
                  drawn.pacing.text(), drawn.failures.any() ? " with failures" : "");
  described +=
      fmt::format("  progress {}, accounting {}, execution {}, scaling {}\n", drawn.progress.text(),
                  drawn.accounting.text(), drawn.execution.text(), drawn.scaling.text());
  if (!drawn.cluster.text.empty()) {
    described += fmt::format("  {} of its own on\n{}", drawn.workload.trace, drawn.cluster.text);
  }
  for (const Choice& model : drawn.perf) described += "  --perf " + model.text() + "\n";
  for (const PolicySetConfig& set : drawn.policy_sets) {
    described += fmt::format("  --policy-set {}+{}+{}\n", set.scheduling.text(),
                             set.placement.text(), set.admission.text());
  }
  const auto refused = [](const Error& error) {
    EXPECT_GT(error.message.size(), 20U) << described << "is refused without a reason";
    return Fate::kRefused;
  };
  const auto config = complete_config(drawn);
  if (!config) return refused(config.error());
  auto simulation = Simulation::make(*config);
  if (!simulation) return refused(simulation.error());
  constexpr long long kMostTurns = 300'000;
  long long turns = 0;
  const auto ended = (*simulation)->run([&turns] { return ++turns < kMostTurns; });
  // Some jobs are only found to be unknown as they come.
  if (!ended) return refused(ended.error());
  EXPECT_TRUE(*ended) << described << "took " << turns << " turns and was not over";
  return Fate::kRan;
}

TEST(RandomDescriptions, RunOrAreRefusedWithAReason) {
  const ToldOnAbort told;
  const TemporaryFolder folder;
  if (const char* one = std::getenv("MUSTER_SEED")) {
    try_description(static_cast<std::uint64_t>(parse_integer(one).value_or(0)), folder);
    return;
  }
  const char* given = std::getenv("MUSTER_SEEDS");
  const auto seeds = given != nullptr ? parse_integer(given).value_or(0) : 1200;
  std::int64_t ran = 0;
  for (std::int64_t seed = 1; seed <= seeds; ++seed) {
    if (try_description(static_cast<std::uint64_t>(seed), folder) == Fate::kRan) ++ran;
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_GT(2 * ran, seeds) << "most are refused: the test tests little";
}

// Descriptions that broke an invariant once.
TEST(RandomDescriptions, ThatOnceBrokeAnInvariant) {
  struct Once {
    Choice generator;
    std::string_view shape;
    long long seed;
    Choice scheduling;
    Choice placement;
    Choice admission;
    Choice pacing;
  };
  const Once all[] = {
      {{"small-large", {{"jobs", "40"}}},
       "1x8",
       887842,
       {"dlas-gpu"},
       {"blox-as-coded"},
       {"accept-all"},
       {"ticks"}},
      {{"small-large", {{"jobs", "40"}}},
       "3x8",
       525464,
       {"dlas-gpu"},
       {"packing"},
       {"accept-all"},
       {"events"}},
      {{"poisson", {{"jobs", "150"}}},
       "16x8",
       102049,
       {"pollux-as-coded", {{"population", "20"}, {"generations", "5"}}},
       {"consolidated"},
       {"deadline"},
       {"slots"}},
  };
  for (const Once& once : all) {
    RunConfig config;
    config.workload.generator = once.generator;
    config.cluster.shape = once.shape;
    config.seed = once.seed;
    config.scheduling = once.scheduling;
    config.placement = once.placement;
    config.admission = once.admission;
    config.pacing = once.pacing;
    SCOPED_TRACE(once.scheduling.name + " on " + once.placement.name);
    const auto complete = complete_config(config);
    ASSERT_TRUE(complete) << complete.error().message;
    auto simulation = Simulation::make(*complete);
    ASSERT_TRUE(simulation) << simulation.error().message;
    const auto ended = (*simulation)->run();
    ASSERT_TRUE(ended) << ended.error().message;
  }
}

}  // namespace
}  // namespace muster
