#include "run/gavel_fixture.h"

#include <fmt/format.h>

#include "support/gavel_table.h"
#include "support/paths.h"

namespace muster {

GavelFixture::GavelFixture() { table_ = folder_.write("table.json", gavel_table_json()).string(); }

RunConfig GavelFixture::base(const std::string& toml) const {
  const auto document = parse_toml(toml, "test");
  EXPECT_TRUE(document) << (document ? "" : document.error().message);
  ConfigLayers layers;
  layers.preset = (source_dir() / "presets/gavel.toml").string();
  auto loaded = load_config(*document, "test", "", layers);
  EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message);
  return loaded ? std::move(*loaded) : RunConfig{};
}

Result<RunConfig> GavelFixture::try_config(const std::string& toml) const {
  return complete_config(base(toml));
}

RunConfig GavelFixture::config(const std::string& toml) const {
  auto made = try_config(toml);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return made ? std::move(*made) : RunConfig{};
}

std::string GavelFixture::drawn_toml(const std::string& policy, const std::string& more,
                                     const std::string& params) const {
  return fmt::format(
      "seed = 3\ncluster = '2:2:2'\nscheduling = '{0}'\nperf = [{{name = 'throughputs', file = "
      "'{1}'}}]\n{2}\n[workload.generator]\nname = 'gavel'\nthroughputs = '{1}'\n{3}\n{4}\n{5}\n",
      policy, table_, more, params, params.find("lam = ") == params.npos ? "lam = 5000" : "",
      params.find("jobs = ") == params.npos ? "jobs = 40" : "");
}

RunConfig GavelFixture::traced(const std::string& policy, const std::string& rows,
                               const std::string& cluster, const std::string& more,
                               const std::string& workload) {
  const std::string trace = folder_.write("jobs.trace", rows).string();
  return config(
      fmt::format("seed = 0\ncluster = '{}'\nscheduling = '{}'\nperf = [{{name = 'throughputs', "
                  "file = '{}'}}]\n"
                  "{}\n[workload]\ntrace = '{}'\nformat = 'gavel'\nrebase = 'no'\n{}\n",
                  cluster, policy, table_, more, trace, workload));
}

std::string GavelFixture::row(const std::string& type, int gpus, double steps, double arrival) {
  return fmt::format("{}\tx\tdir\t--steps\t1\t{}\t{}\t1\t-1.000000\t{}\n", type, steps, gpus,
                     arrival);
}

GavelFixture::Outcome GavelFixture::run(const RunConfig& config, SaveOptions save) {
  Outcome outcome;
  auto simulation = Simulation::make(config);
  if (!simulation) {
    outcome.error = simulation.error().message;
    return outcome;
  }
  MetricsFold fold((*simulation)->symbols(), metrics_options(config));
  (*simulation)->observe(outcome.log);
  (*simulation)->observe(fold);
  (*simulation)->save(std::move(save));
  const auto ended = (*simulation)->run();
  if (!ended) outcome.error = ended.error().message;
  outcome.complete = ended && *ended;
  outcome.metrics = fold.summary().metrics;
  outcome.notes = (*simulation)->notes();
  return outcome;
}

std::vector<std::string> GavelFixture::records(const RunLog& log) {
  std::vector<std::string> lines;
  for (const JobRecord& job : log.jobs) {
    lines.push_back(fmt::format("{} {} {} {} {} {} {}", index(job.id), job.start, job.end,
                                job.queue, job.preemptions, job.gpu_seconds, job.cost));
  }
  return lines;
}

}  // namespace muster
