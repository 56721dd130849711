#include "workload/trace_format.h"

#include <algorithm>

#include "base/text.h"
#include "workload/formats/formats.h"
#include "workload/table_parser.h"

namespace muster {
namespace {

using Shape = TraceFormat::Shape;

ParamList no_settings() { return {}; }

// The more a format demands of a header, the earlier it stands: the first that matches is taken.
const TraceFormat kFormats[] = {
    {"muster", "Muster's own CSV: job_id, submit_s, duration_s, gpus and optional columns by name",
     "muster trace convert and generate", Shape::kTable, matches_native, make_native, no_settings},
    {"philly-csv", "trimmed Philly trace: timestamp, duration, num_gpus, gpu_time, cluster",
     "Microsoft Philly 2017, in the form of the ElasticFlow and Sia artifacts", Shape::kTable,
     matches_philly_csv, make_philly_csv, no_settings},
    {"philly-json", "the Philly job log: a JSON array of jobs with their attempts",
     "Microsoft Philly 2017 (cluster_job_log)", Shape::kJson, matches_philly_json, make_philly_json,
     philly_json_settings},
    {"elasticflow", "jobs with model, iterations, batch size and deadline, in seconds",
     "the ElasticFlow artifact and its release of the MSR ITP traces", Shape::kTable,
     matches_elasticflow, make_elasticflow, no_settings},
    {"itp", "raw MSR ITP trace: job_id, submission_time, duration, num_gpu, in seconds",
     "Microsoft ITP clusters 2021, released with ElasticFlow", Shape::kTable, matches_itp, make_itp,
     itp_settings},
    {"gavel", "tab separated lines of 10 columns without header: job type, steps, scale, arrival",
     "Gavel; its older files of 7 columns and Shockwave's of 12 are read too", Shape::kLines,
     matches_gavel, make_gavel, gavel_settings},
    {"muri", "jobs with iteration and resource times, in milliseconds", "the Muri artifact",
     Shape::kTable, matches_muri, make_muri, no_settings},
    {"chronus", "Philly jobs with deadlines and best-effort marks, in minutes",
     "the Chronus artifact", Shape::kTable, matches_chronus, make_chronus, no_settings},
    {"tiresias", "job_id, num_gpu, submit_time, iterations, model_name, duration, in seconds",
     "the Tiresias simulator", Shape::kTable, matches_tiresias, make_tiresias, no_settings},
    {"helios", "jobs with user, virtual cluster, state and, from Lucid, the workload",
     "SenseTime Helios 2020 and the Lucid artifact", Shape::kTable, matches_helios, make_helios,
     no_settings},
    {"openb", "pods with CPU, memory and parts of GPUs", "Alibaba GPU cluster 2023 (openb)",
     Shape::kTable, matches_openb, make_openb, no_settings},
    {"sacct", "Slurm accounting, columns by name with '|' between",
     "sacct --parsable2 -X --duplicates "
     "--format=JobID,User,Partition,Submit,Start,End,ElapsedRaw,State,ReqTRES,AllocTRES,Timelimit",
     Shape::kTable, matches_sacct, make_sacct, sacct_settings, begins_sacct},
    {"swf", "Standard Workload Format: 18 numbers a line, processors read as GPUs",
     "the Parallel Workloads Archive", Shape::kLines, matches_swf, make_swf, swf_settings},
};

}  // namespace

std::string_view first_line(std::string_view head) {
  while (!head.empty()) {
    const std::size_t end = head.find('\n');
    const std::string_view line = trim(head.substr(0, end));
    if (!line.empty()) return line;
    if (end == std::string_view::npos) break;
    head.remove_prefix(end + 1);
  }
  return {};
}

bool header_names(std::string_view head, char separator,
                  std::initializer_list<std::string_view> columns) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  const std::vector<std::string> names = split_cells(first_line(head), separator);
  return std::all_of(columns.begin(), columns.end(), [&names](std::string_view column) {
    return std::any_of(names.begin(), names.end(),
                       [column](const std::string& name) { return is_named(column, name); });
  });
}

std::span<const TraceFormat> trace_formats() { return kFormats; }

std::vector<std::string_view> trace_format_names() {
  std::vector<std::string_view> names;
  for (const TraceFormat& format : kFormats) names.push_back(format.name);
  return names;
}

Result<const TraceFormat*> find_trace_format(std::string_view name) {
  for (const TraceFormat& format : kFormats) {
    if (same_name(format.name, name)) return &format;
  }
  return Error{unknown_name("trace format", name, trace_format_names())};
}

const TraceFormat* detect_trace_format(std::string_view head) {
  for (const TraceFormat& format : kFormats) {
    if (format.matches(head)) return &format;
  }
  return nullptr;
}

}  // namespace muster
