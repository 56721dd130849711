// Up to which GPU count ElasticFlow's artifact lets a job grow: limits made by hand, from where the
// curves of its two sets of tables flatten.
#pragma once

#include "workload/perf/models.h"
#include "workload/perf/throughput_tables.h"

namespace muster {

int cap_of_a100_tables(std::string_view model, int batch, const ThroughputCurve& curve);
int cap_of_t4_tables(std::string_view model, int batch, const ThroughputCurve& curve);

PerfInfo throughput_tables_as_coded_row();

}  // namespace muster
