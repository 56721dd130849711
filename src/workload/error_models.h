// How wrong estimates of run times are: models of people and predictors, for asking how well a
// policy does without the truth. A model draws, for each job in turn, its estimate over its true
// duration.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/params.h"
#include "base/symbols.h"
#include "model/job_spec.h"

namespace muster {

class ErrorModel {
 public:
  virtual ~ErrorModel() = default;
  // Estimate over truth, above 0. Jobs come in the order of their source.
  virtual double factor(const JobSpec& job) = 0;
};

struct ErrorModelInfo {
  std::string_view name;
  std::string_view sentence;
  std::string_view source;  // paper or system, year; may be empty
  ParamList params;
  // `symbols` must outlive the model.
  std::unique_ptr<ErrorModel> (*make)(const Params&, const Symbols& symbols);
};

const std::vector<ErrorModelInfo>& error_model_table();

}  // namespace muster
