#include "policy/table.h"

#include "policy/builtin.h"

namespace muster {
namespace {

const ParamInfo kBoostAfter{"boost_after", ParamKind::kReal, "inf",
                            "seconds of waiting in a row after which a job goes first, for good",
                            0};
const ParamInfo kQuantum{
    "quantum", ParamKind::kReal, "300",
    "where turns follow events: seconds after which the order is looked at again", 1};
const ParamInfo kStrict{"strict", ParamKind::kFlag, "true",
                        "nobody overtakes a job that does not fit"};
const ParamInfo kBackfill{"backfill", ParamKind::kFlag, "true",
                          "try jobs behind one that does not fit"};

}  // namespace

// To add a policy: write its file, declare its maker in policy/builtin.h, add its row here.

const std::vector<PolicyInfo<AdmissionPolicy>>& admission_table() {
  static const std::vector<PolicyInfo<AdmissionPolicy>> kTable = {
      {"accept-all", "lets every job in that could ever fit", "Blox, 2024", {}, make_accept_all},
      {"load-threshold",
       "makes jobs wait outside while admitted jobs ask for more than a multiple of the cluster",
       "Blox, 2024",
       {{"threshold", ParamKind::kReal, "1.2", "GPUs asked for, as a multiple of the cluster's",
         0}},
       make_load_threshold},
  };
  return kTable;
}

const std::vector<PolicyInfo<SchedulingPolicy>>& scheduling_table() {
  static const std::vector<PolicyInfo<SchedulingPolicy>> kTable = {
      {"fifo",
       "first come, first served",
       "folklore",
       {{"preempt", ParamKind::kFlag, "false", "let a job submitted earlier push out later ones"},
        kStrict, kBoostAfter},
       make_fifo},
      {"sjf",
       "shortest job first, without preemption",
       "folklore",
       {{"by_estimate", ParamKind::kFlag, "false",
         "use the estimate instead of the true duration"}, kStrict},
       make_sjf},
      {"srtf", "shortest remaining time first", "folklore", {kBoostAfter}, make_srtf},
      {"las",
       "least attained service first",
       "Tiresias, 2019",
       {{"service",
         ParamKind::kText,
         "gpu-seconds",
         "what counts as service",
         -1,
         1,
         {"gpu-seconds", "seconds"}},
        kBoostAfter,
        kQuantum},
       make_las},
      {"tiresias",
       "least attained GPU-seconds in three queues, first come first served in each",
       "Tiresias, 2019",
       {{"limit_1", ParamKind::kReal, "3250",
         "GPU-seconds after which a job leaves the first queue", 0},
        {"limit_2", ParamKind::kReal, "7200", "GPU-seconds after which it leaves the second", 0},
        kBoostAfter},
       make_tiresias},
      {"optimus",
       "remaining time first; spare GPUs go where they save most time",
       "Optimus, 2018",
       {{"least_gain", ParamKind::kReal, "60", "seconds that one more GPU must save", 0}},
       make_optimus},
      {"optimus-as-coded",
       "Optimus as Blox has it: the order of srtf; its spare GPUs never reach placement, and its "
       "speed-up "
       "is the performance model of the same name",
       "Blox, 2024",
       {kBoostAfter},
       make_srtf},
      {"proportional",
       "an equal part of the GPUs for every job, as a fraction of time",
       "Gavel, 2020",
       {kQuantum},
       make_proportional},
      {"max-min",
       "max-min fair GPUs by water filling, weighted by priority",
       "Gavel, 2020",
       {kQuantum},
       make_max_min},
      {"finish-time-fairness",
       "whoever is furthest behind running alone goes first",
       "Themis, 2020",
       {kQuantum},
       make_finish_time_fairness},
  };
  return kTable;
}

const std::vector<PolicyInfo<PlacementPolicy>>& placement_table() {
  static const std::vector<PolicyInfo<PlacementPolicy>> kTable = {
      {"consolidated",
       "on as few nodes as possible, the tightest fit first",
       "folklore",
       {{"one_node", ParamKind::kFlag, "false", "never split a job over nodes"}, kBackfill},
       make_consolidated},
      {"first-gpu", "the lowest-numbered free GPUs", "Blox, 2024", {kBackfill}, make_first_gpu},
      {"scattered", "over as many nodes as possible", "Blox, 2024", {kBackfill}, make_scattered},
      {"profile-guided",
       "few nodes only for jobs that lose speed when spread",
       "Tiresias, 2019",
       {{"tolerance", ParamKind::kReal, "0.05", "loss of speed that does not matter", 0, 1},
        kBackfill},
       make_profile_guided},
      {"bebop",
       "of several places the one where the performance model sees the job run fastest",
       "Blox, 2024",
       {kBackfill},
       make_bebop},
      {"synergy",
       "GPUs together with the CPU cores and memory that jobs need beside them",
       "Synergy, 2022",
       {{"mode",
         ParamKind::kText,
         "tune",
         "who gets how many cores",
         -1,
         1,
         {"fair", "greedy", "tune"}},
        kBackfill},
       make_synergy},
      {"blox",
       "the default rule of Blox, defects included",
       "Blox, 2024",
       {{"exact_node", ParamKind::kFlag, "false", "its rule for jobs with a placement preference"}},
       make_blox_placement},
  };
  return kTable;
}

const std::vector<PolicyInfo<Selector>>& selector_table() {
  static const std::vector<PolicyInfo<Selector>> kTable = {
      {"look-ahead",
       "simulates the near future under each combination and picks the best",
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

}  // namespace muster
