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

std::vector<PolicyInfo<SchedulingPolicy>> with_gavel(
    std::vector<PolicyInfo<SchedulingPolicy>> rows) {
  for (PolicyInfo<SchedulingPolicy>& row : gavel_rows()) rows.push_back(std::move(row));
  return rows;
}

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
  static const std::vector<PolicyInfo<SchedulingPolicy>> kTable = with_gavel({
      {"fifo",
       "first come, first served",
       "folklore",
       {{"preempt", ParamKind::kFlag, "false", "let a job submitted earlier push out later ones"},
        kStrict,
        kBoostAfter},
       make_fifo},
      {"sjf",
       "shortest job first, without preemption",
       "folklore",
       {{"by_estimate", ParamKind::kFlag, "false", "use the estimate instead of the true duration"},
        kStrict},
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
      {"qssf",
       "the smallest estimated GPU time first, without preemption",
       "Helios, 2021",
       {{"fresh_by_size", ParamKind::kFlag, "false",
         "jobs that find an empty queue go by GPU count in their first turn, as published"},
        kStrict},
       make_qssf},
      {"lucid",
       "the smallest estimated GPU time first; meant for the placement with-share",
       "Lucid, 2023",
       {},
       make_lucid},
      {"least-gpus",
       "the fewest GPUs first, as Lucid's profiler does",
       "Lucid, 2023",
       {kStrict},
       make_least_gpus},
      {"srtf-quota",
       "shortest remaining time first, GPUs given by count, as in Lucid and Helios",
       "Helios, 2021",
       {},
       make_srtf_quota},
      {"tiresias-quota",
       "two queues by attained GPU-seconds, GPUs given by count once a minute, as in Lucid",
       "Lucid, 2023",
       {{"limit", ParamKind::kReal, "18000", "GPU-seconds after which a job leaves the first queue",
         0},
        {"every", ParamKind::kReal, "60", "seconds between two looks at the order", 1}},
       make_tiresias_quota},
  });
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
      {"whole-nodes",
       "the tightest node; jobs larger than a node get whole free nodes and the emptiest for the "
       "rest",
       "Helios, 2021",
       {kBackfill},
       make_whole_nodes},
      {"consolidate-first",
       "as whole-nodes, and on as few nodes as possible where that fails",
       "Lucid, 2023",
       {kBackfill},
       make_consolidate_first},
      {"random",
       "nodes drawn at random",
       "folklore",
       {{"seed", ParamKind::kInteger, "1", "of the random numbers", 0}, kBackfill},
       make_random_placement},
      {"with-share",
       "as whole-nodes, and beside a running job where two do not disturb each other",
       "Lucid, 2023",
       {{"share",
         ParamKind::kText,
         "by-load",
         "when jobs may share GPUs; by load needs a forecast",
         -1,
         1,
         {"by-load", "always", "never"}},
        {"score_limit", ParamKind::kInteger, "2", "largest sum of two sharing scores", 0},
        {"largest", ParamKind::kInteger, "8", "GPUs of the largest job that may share", 1},
        {"memory_mb", ParamKind::kReal, "24576", "memory of a GPU; two jobs must stay below it", 0},
        {"outlast", ParamKind::kReal, "2",
         "a newcomer's estimated GPU time, at most this multiple of the host's", 0},
        {"share_first", ParamKind::kFlag, "true", "seek a neighbour before free GPUs"},
        {"quiet", ParamKind::kReal, "2",
         "no sharing while at most so many jobs are forecast per slot", 0},
        {"slots", ParamKind::kInteger, "5", "slots of the forecast that are looked at", 1},
        {"check_every", ParamKind::kReal, "100", "seconds between two looks at the forecast", 1},
        {"guests_never_host", ParamKind::kFlag, "false",
         "who once joined another may not host, as published"}},
       make_with_share},
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
