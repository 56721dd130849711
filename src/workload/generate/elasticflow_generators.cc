// ElasticFlow's generator of synthetic jobs, draw for draw.
#include <cmath>

#include <fmt/format.h>

#include "workload/elastic_range.h"
#include "workload/elasticflow_draw.h"
#include "workload/generate/first_jobs.h"
#include "workload/generate/generator_rows.h"

namespace muster {
namespace {

struct Options {
  std::int64_t seed = 0;
  double lam = 0;
  int max_gpus = 0;
  double best_effort = 0;
};

class ElasticFlowJobs final : public JobSource {
 public:
  ElasticFlowJobs(const Options& options, ElasticFlowDraw draw)
      : options_(options),
        draw_(std::move(draw)),
        arrivals_(options.seed + 1),
        durations_(options.seed + 2),
        sizes_(options.seed + 3) {}

  const JobSpec* peek() override {
    if (!ready_) draw_job();
    ready_ = true;
    return &job_;
  }
  void pop() override { ready_ = false; }
  bool finished() override { return false; }

 private:
  void draw_job() {
    job_ = JobSpec{};
    job_.gpus = draw_gpus();
    const Seconds duration = draw_duration();
    draw_.model(job_, false);
    if (number_ > 0 && options_.lam > 0) {
      arrival_ += -std::log(1.0 - arrivals_.random()) * options_.lam;
    }
    // A trace holds whole numbers; the deadline is counted from the exact arrival.
    job_.name = std::to_string(number_++);
    job_.submit = std::trunc(arrival_);
    job_.arrival = job_.submit;
    job_.duration = std::trunc(duration);
    job_.iterations = std::trunc(draw_.iterations(job_, duration));
    job_.deadline = std::trunc(draw_.deadline(arrival_, duration));
    if (draw_.best_effort(options_.best_effort)) job_.deadline = kNever;
    set_elastic_range(job_);
  }
  int draw_gpus() {
    const double r = sizes_.uniform(0, 1);
    const int gpus = r < 0.83 ? 1 : r <= 0.86 ? 2 : r <= 0.89 ? 4 : r <= 0.99 ? 8 : 16;
    return std::min(gpus, options_.max_gpus);
  }
  Seconds draw_duration() {
    const bool is_long = durations_.random() >= 0.8;
    return 60 * std::pow(10, is_long ? durations_.uniform(2.5, 4) : durations_.uniform(1, 2.5));
  }

  Options options_;
  ElasticFlowDraw draw_;
  PythonRandom arrivals_;
  PythonRandom durations_;
  PythonRandom sizes_;
  Seconds arrival_ = 0;
  std::uint64_t number_ = 0;
  JobSpec job_;
  bool ready_ = false;
};

}  // namespace

ParamList elasticflow_params() {
  ParamList list = elasticflow_draw_params();
  list.push_back({"lam", ParamKind::kReal, "0",
                  "mean seconds between arrivals; 0: all jobs at once", 0, 1e12});
  list.push_back({"max_gpus", ParamKind::kInteger, "16", "largest GPU count of a job", 1, 16});
  list.push_back({"best_effort", ParamKind::kReal, "0", "fraction of jobs without deadline", 0, 1});
  list.push_back({"jobs", ParamKind::kInteger, "1000", "number of jobs; 0: endless", 0, 4e9});
  return list;
}

Result<Generated> make_elasticflow_jobs(const Params& params, Symbols& symbols) {
  auto draw = ElasticFlowDraw::make(params, symbols);
  if (!draw) return draw.error();
  Options options;
  options.seed = params.integer("seed");
  options.lam = params.real("lam");
  options.max_gpus = static_cast<int>(params.integer("max_gpus"));
  options.best_effort = params.real("best_effort");
  if ((options.max_gpus & (options.max_gpus - 1)) != 0) {
    return Error{fmt::format("max_gpus is {}, expected 1, 2, 4, 8 or 16: others were not measured",
                             options.max_gpus)};
  }
  return Generated{first_jobs(std::make_unique<ElasticFlowJobs>(options, std::move(*draw)),
                              static_cast<std::uint64_t>(params.integer("jobs"))),
                   {}};
}

}  // namespace muster
