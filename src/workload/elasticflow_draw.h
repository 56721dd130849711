// What ElasticFlow's two scripts draw for a job: a model with its batch size, all with equal
// chances, and a deadline. Work is counted in iterations of the measured tables.
#pragma once

#include <memory>

#include "base/params.h"
#include "base/random_python.h"
#include "base/result.h"
#include "base/symbols.h"
#include "perf/perf_model.h"

namespace muster {

// Parameters that both have: throughputs, seed, deadline_seed, min_ddl, max_ddl.
ParamList elasticflow_draw_params();

class ElasticFlowDraw {
 public:
  // From elasticflow_draw_params(); `throughputs` must name a folder.
  static Result<ElasticFlowDraw> make(const Params& params, Symbols& symbols);

  // Any of the models; with `for_size` one whose batch has at least a sample for every GPU.
  void model(JobSpec& job, bool for_size);
  // Iterations of `seconds` on the job's GPUs; 0 where so many were not measured.
  double iterations(const JobSpec& job, Seconds seconds) const;
  // Submission + tightness x duration.
  Seconds deadline(Seconds submit, Seconds duration);
  // Draws from the stream of the deadlines, as the original does.
  bool best_effort(double share) { return deadlines_.uniform(0, 1) < share; }

 private:
  ElasticFlowDraw(const Params& params, std::unique_ptr<PerfModel> tables, Symbols& symbols);

  std::unique_ptr<PerfModel> tables_;
  std::vector<Symbol> models_;  // by position in the table of models
  PythonRandom jobs_;
  PythonRandom deadlines_;
  double least_;
  double most_;
};

}  // namespace muster
