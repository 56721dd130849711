#include "workload/elasticflow_draw.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "workload/perf/throughput_tables.h"

namespace muster {
namespace {

struct ModelRow {
  std::string_view name;
  int batch;
};

// In the order in which the original numbers them.
constexpr std::array<ModelRow, 14> kModels = {{
    {"resnet50", 64},
    {"resnet50", 128},
    {"resnet50", 256},
    {"vgg16", 64},
    {"vgg16", 128},
    {"vgg16", 256},
    {"inception3", 64},
    {"inception3", 128},
    {"gpt2", 128},
    {"gpt2", 256},
    {"bert", 128},
    {"bert", 64},
    {"deepspeech2", 64},
    {"deepspeech2", 32},
}};

}  // namespace

ParamList elasticflow_draw_params() {
  return {
      {"throughputs", ParamKind::kText, "",
       "folder of measured tables, one <model>.csv per model; see docs/elasticflow.md"},
      {"seed", ParamKind::kInteger, "0", "seed of Python's random numbers", 0, 9e15},
      {"deadline_seed", ParamKind::kInteger, "0",
       "seed of deadlines and best-effort marks; the original does not seed them", 0, 9e15},
      {"min_ddl", ParamKind::kReal, "0.5",
       "a deadline is at submission + duration x uniform(min_ddl, max_ddl)", 0, 1e6},
      {"max_ddl", ParamKind::kReal, "1.5", "see min_ddl", 0, 1e6},
  };
}

Result<ElasticFlowDraw> ElasticFlowDraw::make(const Params& params, Symbols& symbols) {
  if (params.real("min_ddl") > params.real("max_ddl")) {
    return Error{fmt::format("min_ddl is {}, expected at most max_ddl, which is {}",
                             params.real("min_ddl"), params.real("max_ddl"))};
  }
  if (params.text("throughputs").empty()) {
    return Error{
        "needs the parameter throughputs, the folder of measured tables: one <model>.csv per "
        "model"};
  }
  auto tables = load_throughput_tables(params.text("throughputs"), cap_at_widest, symbols);
  if (!tables) return tables.error();
  for (const ModelRow& row : kModels) {
    JobSpec job;
    job.name = "of these traces";
    job.model = symbols.intern(row.name);
    job.batch_size = row.batch;
    job.iterations = 1;
    if (const Status known = (*tables)->check(job); !known) return known.error();
  }
  return ElasticFlowDraw(params, std::move(*tables), symbols);
}

ElasticFlowDraw::ElasticFlowDraw(const Params& params, std::unique_ptr<PerfModel> tables,
                                 Symbols& symbols)
    : tables_(std::move(tables)),
      jobs_(params.integer("seed")),
      deadlines_(params.integer("deadline_seed")),
      least_(params.real("min_ddl")),
      most_(params.real("max_ddl")) {
  for (const ModelRow& row : kModels) models_.push_back(symbols.intern(row.name));
}

void ElasticFlowDraw::model(JobSpec& job, bool for_size) {
  std::size_t drawn = jobs_.choice(kModels.size());
  while (for_size && kModels.at(drawn).batch < job.gpus) drawn = jobs_.choice(kModels.size());
  job.model = models_[drawn];
  job.batch_size = kModels.at(drawn).batch;
}

double ElasticFlowDraw::iterations(const JobSpec& job, Seconds seconds) const {
  for (const ThroughputCurve::Point& point : curve_of(*tables_, job)->points) {
    if (point.gpus == job.gpus) return seconds * point.per_second;
  }
  return 0;
}

Seconds ElasticFlowDraw::deadline(Seconds submit, Seconds duration) {
  return submit + std::trunc(deadlines_.uniform(least_, most_) * duration);
}

}  // namespace muster
