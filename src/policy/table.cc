#include "policy/table.h"

#include "policy/builtin.h"
#include "policy/shared_params.h"

namespace muster {

// To add a policy: write its file, declare its maker in policy/builtin.h, add its row here; those
// of scheduling and placement have tables in files of their own.

const std::vector<PolicyInfo<AdmissionPolicy>>& admission_table() {
  static const std::vector<PolicyInfo<AdmissionPolicy>> kTable = {
      {"accept-all", "lets every job in that could ever fit", "Blox, 2024", {}, make_accept_all},
      {"load-threshold",
       "makes jobs wait outside while admitted jobs ask for more than a multiple of the cluster",
       "Blox, 2024",
       {{"threshold", ParamKind::kReal, "1.2", "GPUs asked for, as a multiple of the cluster's",
         0}},
       make_load_threshold},
      {"deadline",
       "refuses jobs that cannot meet their deadline, or only by making others miss theirs",
       "ElasticFlow, 2023",
       {kPlanSlot},
       make_deadline_admission},
  };
  return kTable;
}

const std::vector<PolicyInfo<Selector>>& selector_table() {
  static const std::vector<PolicyInfo<Selector>> kTable = {
      {"look-ahead",
       "simulates the near future under each policy set and picks the best",
       "Blox, 2024",
       {{"every", ParamKind::kInteger, "1", "turns between two looks", 1},
        {"horizon", ParamKind::kReal, "inf", "seconds to look ahead", 0},
        {"metric",
         ParamKind::kText,
         "jct",
         "what is best",
         -1,
         1,
         {"jct", "slowdown", "progress"}}},
       make_look_ahead},
  };
  return kTable;
}

const std::vector<PolicyInfo<ScalingPolicy>>& scaling_table() {
  static const std::vector<PolicyInfo<ScalingPolicy>> kTable = {
      {"energy-saving",
       "nodes sleep while few are needed and few are forecast",
       "Helios, 2021",
       {{"step", ParamKind::kReal, "600", "seconds between two looks", 1},
        {"history", ParamKind::kInteger, "3", "steps whose mean use counts as the recent past", 1},
        {"future", ParamKind::kInteger, "18", "slots of the forecast that count", 1},
        {"past_drop", ParamKind::kReal, "0.5", "nodes by which use must have fallen", 0},
        {"future_drop", ParamKind::kReal, "1", "nodes by which it must be expected to fall", 0},
        {"least_gain", ParamKind::kInteger, "2", "nodes that a change must free", 0},
        {"buffer", ParamKind::kInteger, "5", "nodes awake beyond those in use", 0},
        {"keep", ParamKind::kInteger, "12", "steps after a rise in which nothing sleeps", 0}},
       make_energy_saving},
      {"spare-under-backlog",
       "a spare node of the cluster joins while jobs pile up",
       "Lucid, 2023",
       {{"long_queue", ParamKind::kInteger, "10", "more waiting jobs than this bring one in", 0},
        {"short_queue", ParamKind::kInteger, "5", "fewer let it go once it is idle", 0},
        {"check_in", ParamKind::kReal, "10", "seconds between looks at the queue", 1},
        {"check_out", ParamKind::kReal, "100", "seconds between looks at the forecast", 1},
        {"quiet_gpus", ParamKind::kReal, "40",
         "it goes only while at most so many GPUs are forecast per slot", 0},
        {"slots", ParamKind::kInteger, "5", "slots of the forecast that are looked at", 1}},
       make_spare_under_backlog},
  };
  return kTable;
}

}  // namespace muster
