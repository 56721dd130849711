#include "report/perfetto.h"

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "base/out_file.h"
#include "report/json.h"

namespace muster {
namespace {

constexpr double kMicroseconds = 1e6;
// Beyond this, names would take more memory than they are worth; numbers serve.
constexpr double kMostNames = 2e6;

// Slices of one line must not overlap. A job takes the line of its first GPU on a node; where jobs
// share GPUs, or where placements are unknown, the next free line.
class Lines {
 public:
  std::uint32_t take(std::uint32_t node, std::uint32_t first) {
    auto& used = used_[node];
    std::uint32_t line = first;
    while (std::find(used.begin(), used.end(), line) != used.end()) line += kMaxGpusPerNode;
    used.push_back(line);
    return line;
  }
  void give_back(std::uint32_t node, std::uint32_t line) { std::erase(used_[node], line); }

 private:
  std::map<std::uint32_t, std::vector<std::uint32_t>> used_;
};

struct Slice {
  std::uint32_t node = 0;
  std::uint32_t line = 0;
  int gpus = 0;
};

struct Running {
  Seconds since = 0;
  Reason reason{};
  std::vector<Slice> slices;
};

class TraceWriter {
 public:
  TraceWriter(OutFile& file, const std::vector<std::string>& names) : file_(file), names_(names) {
    file_.write("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
  }

  void hear(const Decision& decision, const GpuSet& where) {
    switch (decision.action) {
      case Action::kStart:
        begin(decision, where);
        break;
      case Action::kResize:
      case Action::kMove:
        end(decision);
        begin(decision, where);
        break;
      case Action::kStop:
      case Action::kFinish:
      case Action::kFail:
        end(decision);
        break;
      default:
        break;
    }
    last_ = decision.time;
  }

  void count(Seconds time, std::string_view name, double value) {
    JsonWriter json;
    json.begin_object().member("ph", "C").member("pid", 0.0).member("ts", time * kMicroseconds);
    json.member("name", name)
        .key("args")
        .begin_object()
        .member("value", value)
        .end_object()
        .end_object();
    put(json.text());
  }

  Status close() {
    // What still ran when the run stopped.
    std::map<std::uint32_t, Running> rest(running_.begin(), running_.end());
    for (const auto& [job, run] : rest) write(job, run, last_, "still running");
    name_group(0, "cluster");
    for (const std::uint32_t node : nodes_) name_group(node + 1, fmt::format("node {}", node));
    file_.write("\n]}\n");
    return file_.close();
  }

 private:
  void begin(const Decision& decision, const GpuSet& where) {
    Running& run = running_[static_cast<std::uint32_t>(decision.job)];
    run = {decision.time, decision.reason, {}};
    for (int i = 0; i < where.nodes(); ++i) {
      const auto node = static_cast<std::uint32_t>(where[i].node);
      if (std::find(nodes_.begin(), nodes_.end(), node) == nodes_.end()) nodes_.push_back(node);
      const auto first = static_cast<std::uint32_t>(std::countr_zero(where[i].mask));
      run.slices.push_back({node + 1, lines_.take(node + 1, first), where[i].count()});
    }
    if (where.empty()) run.slices.push_back({0, lines_.take(0, 1), decision.gpus});
  }

  void end(const Decision& decision) {
    const auto job = static_cast<std::uint32_t>(decision.job);
    const auto found = running_.find(job);
    if (found == running_.end()) return;
    write(job, found->second, decision.time, reason_sentence(decision.reason));
    for (const Slice& slice : found->second.slices) lines_.give_back(slice.node, slice.line);
    running_.erase(found);
  }

  void write(std::uint32_t job, const Running& run, Seconds until, std::string_view ended) {
    const std::string name =
        job < names_.size() && !names_[job].empty() ? names_[job] : fmt::format("#{}", job);
    for (const Slice& slice : run.slices) {
      JsonWriter json;
      json.begin_object().member("ph", "X").member("pid", static_cast<double>(slice.node));
      json.member("tid", static_cast<double>(slice.line)).member("ts", run.since * kMicroseconds);
      json.member("dur", (until - run.since) * kMicroseconds)
          .member("name", std::string_view(name));
      json.key("args").begin_object().member("job", static_cast<double>(job));
      json.member("gpus here", static_cast<double>(slice.gpus))
          .member("started", reason_sentence(run.reason));
      json.member("ended", ended).end_object().end_object();
      put(json.text());
    }
  }

  void name_group(std::uint32_t group, const std::string& name) {
    JsonWriter json;
    json.begin_object()
        .member("ph", "M")
        .member("pid", static_cast<double>(group))
        .member("name", "process_name");
    json.key("args")
        .begin_object()
        .member("name", std::string_view(name))
        .end_object()
        .end_object();
    put(json.text());
  }

  void put(const std::string& event) {
    if (any_) file_.write(",\n");
    any_ = true;
    file_.write(event);
  }

  OutFile& file_;
  const std::vector<std::string>& names_;
  std::unordered_map<std::uint32_t, Running> running_;
  std::vector<std::uint32_t> nodes_;
  Lines lines_;
  Seconds last_ = 0;
  bool any_ = false;
};

Status write_trace(const ResultFolder& result, OutFile& file) {
  std::vector<std::string> names;
  if (result.has_jobs() && result.summary().summary.metrics.jobs <= kMostNames) {
    Symbols symbols;
    const Status read = result.for_each_job(symbols, [&](const JobRecord& job) {
      if (job.name.empty()) return true;
      if (index(job.id) >= names.size()) names.resize(index(job.id) + 1);
      names[index(job.id)] = job.name;
      return true;
    });
    if (!read) return read;
  }
  auto reader = result.decisions();
  if (!reader) return reader.error();
  TraceWriter trace(file, names);
  while (const Decision* decision = reader->next()) trace.hear(*decision, reader->placement());
  if (Status read = reader->status(); !read) return read;
  const auto timeline = result.timeline();
  if (!timeline) return timeline.error();
  for (const TimelineBucket& bucket : timeline->buckets) {
    trace.count(bucket.start, "GPUs in use", bucket.used_gpus);
    trace.count(bucket.start, "jobs in line", bucket.waiting + bucket.held);
  }
  return trace.close();
}

}  // namespace

Status write_perfetto(const ResultFolder& result, const std::string& path) {
  return replace_file(path, [&](OutFile& file) { return write_trace(result, file); });
}

}  // namespace muster
