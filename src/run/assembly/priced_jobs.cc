#include "run/assembly/priced_jobs.h"

#include <fmt/format.h>

namespace muster {

const JobSpec* PricedJobs::peek() {
  if (unpriced_) return nullptr;
  const JobSpec* next = inner_->peek();
  if (next == nullptr || cost_->by_model.contains({next->model, next->gpus}) ||
      cost_->by_model.contains({next->model, 0})) {
    return next;
  }
  const bool nameless = next->model == kNoSymbol;
  unpriced_ = Error{fmt::format(
      "job '{}' {} on {} GPUs, for which the table of [restart] has no row; add {{model = \"{}\", "
      "gpus = {}, seconds = ...}}, or set restart.unknown to \"usual\", which charges {} s",
      next->name, nameless ? "names no model and runs" : "runs " + symbols_.text(next->model),
      next->gpus, nameless ? "" : symbols_.text(next->model), next->gpus, cost_->restart)};
  return nullptr;
}

}  // namespace muster
