// The parts of the table of generators: for each, its parameters and its factory.
#pragma once

#include "workload/generate/generators.h"

namespace muster {

ParamList poisson_params();
Result<Generated> make_poisson(const Params& params, Symbols& symbols);
ParamList diurnal_params();
Result<Generated> make_diurnal(const Params& params, Symbols& symbols);
ParamList small_large_params();
Result<Generated> make_small_large(const Params& params, Symbols& symbols);
ParamList philly_like_params();
Result<Generated> make_philly_like(const Params& params, Symbols& symbols);
ParamList venus_like_params();
Result<Generated> make_venus_like(const Params& params, Symbols& symbols);
ParamList static_params();
Result<Generated> make_static(const Params& params, Symbols& symbols);
ParamList fit_params();
Result<Generated> make_fit(const Params& params, Symbols& symbols);

ParamList blox_params();
Result<Generated> make_blox_simple_row(const Params& params, Symbols& symbols);
Result<Generated> make_blox_dual_load_row(const Params& params, Symbols& symbols);
Result<Generated> make_blox_small_large_row(const Params& params, Symbols& symbols);

ParamList gavel_params();
Result<Generated> make_gavel_jobs(const Params& params, Symbols& symbols);
ParamList gavel_trace_params();
Result<Generated> make_gavel_trace(const Params& params, Symbols& symbols);

ParamList elasticflow_params();
Result<Generated> make_elasticflow_jobs(const Params& params, Symbols& symbols);

}  // namespace muster
