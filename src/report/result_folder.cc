#include "report/result_folder.h"

#include <cerrno>
#include <cmath>
#include <filesystem>
#include <sys/resource.h>
#include <system_error>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/text.h"
#include "report/folder_swap.h"
#include "report/summary_json.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

// Writes the fields of one line, each with the comma after it.
class Line {
 public:
  explicit Line(char* at) : at_(at) {}
  Line& number(double value) { return comma(put_number(at_, value)); }
  Line& integer(std::int64_t value) { return comma(put_integer(at_, value)); }
  Line& text(std::string_view value) { return comma(put_field(at_, value)); }
  // The last comma becomes the end of the line.
  char* end() {
    at_[-1] = '\n';
    return at_;
  }

 private:
  Line& comma(char* at) {
    *at = ',';
    at_ = at + 1;
    return *this;
  }
  char* at_;
};

void write_job(OutFile& file, const JobRecord& job, const Symbols& symbols) {
  const std::string& user = symbols.text(job.user);
  const std::string& partition = symbols.text(job.partition);
  const std::string& model = symbols.text(job.model);
  constexpr std::size_t kFixed = 32 * (kNumberRoom + 1);
  const std::size_t texts = job.name.size() + user.size() + partition.size() + model.size();
  Line line(file.room(kFixed + 2 * texts));
  line.integer(static_cast<std::int64_t>(job.id));
  line.number(job.submit).number(job.start).number(job.end);
  line.number(job.status == JobState::kFinished ? job.completion_time() : kNoFigure);
  line.number(job.queue).integer(job.gpus);
  line.text(job_state_name(job.status)).text(reason_name(job.reason)).integer(job.preemptions);
  line.text(job.name).number(job.arrival).number(job.duration);
  line.integer(job.restarts).integer(job.resizes);
  line.number(job.gpu_seconds).number(job.lost_work).number(job.overhead).number(job.deadline);
  line.text(user).text(partition).text(model);
  const bool judged = job.has_deadline() && job.status == JobState::kFinished;
  line.number(judged ? job.lateness() : kNoFigure);
  line.number(job.has_deadline() ? job.value : kNoFigure);
  line.number(job.has_deadline() ? job.best_value : kNoFigure);
  line.integer(job.priority).number(job.cost);
  file.used(line.end());
}

Status write_inputs(const std::string& folder, const std::map<std::string, std::string>& inputs) {
  std::error_code code;
  fs::create_directory(folder, code);
  if (code) return file_error("create", folder, code.value());
  for (const auto& [name, text] : inputs) {
    if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos) {
      return Error{fmt::format("'{}' cannot be the name of a copied input file", name)};
    }
    if (Status written = write_file(fmt::format("{}/{}", folder, name), text); !written)
      return written;
  }
  return Done{};
}

}  // namespace

double peak_rss_mb() {
  // The kernel's own high-water mark of this program; getrusage may still carry the parent's.
  if (const auto status = read_file("/proc/self/status"); status) {
    const std::size_t line = status->find("VmHWM:");
    if (line != std::string::npos) {
      const std::string_view rest = std::string_view(*status).substr(line + 6);
      const auto kilobytes = parse_integer(trim(rest.substr(0, rest.find("kB"))));
      if (kilobytes) return static_cast<double>(*kilobytes) / 1024;
    }
  }
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

std::string_view jobs_csv_header() {
  return "job_id,submit_s,start_s,end_s,jct_s,queue_s,gpus,status,reason,preemptions,"
         "name,arrival_s,duration_s,restarts,resizes,gpu_seconds,lost_work_s,overhead_s,deadline_s,"
         "user,partition,model,lateness_s,value,best_value,priority,cost_usd";
}

std::string_view timeline_csv_header() {
  return "start_s,held_jobs,waiting_jobs,running_jobs,usable_gpus,used_gpus,demanded_gpus,"
         "preemptions";
}

ResultWriter::ResultWriter(ResultOptions options, std::string partial, const Symbols& symbols)
    : options_(std::move(options)),
      partial_(std::move(partial)),
      symbols_(symbols),
      metrics_(symbols, options_.metrics),
      timeline_(options_.timeline_buckets) {}

ResultWriter::~ResultWriter() { abandon(); }

Result<std::unique_ptr<ResultWriter>> ResultWriter::open(ResultOptions options,
                                                         const Symbols& symbols) {
  if (Status checked = check_target(options.folder, options.force); !checked)
    return checked.error();
  auto partial = make_partial_folder(options.folder);
  if (!partial) return partial.error();
  std::unique_ptr<ResultWriter> writer(
      new ResultWriter(std::move(options), std::move(*partial), symbols));
  if (Status opened = writer->open_files(); !opened) return opened.error();
  return writer;
}

Status ResultWriter::open_files() {
  if (options_.jobs) {
    auto file = OutFile::create(partial_ + "/jobs.csv");
    if (!file) return file.error();
    jobs_.emplace(std::move(*file));
    jobs_->write(fmt::format("{}\n", jobs_csv_header()));
  }
  if (options_.turns) {
    auto file = OutFile::create(partial_ + "/turns.csv");
    if (!file) return file.error();
    turns_.emplace(std::move(*file));
    turns_->write(fmt::format("{}\n", turns_csv_header()));
  }
  if (options_.decisions) {
    auto log = DecisionWriter::create(partial_ + "/decisions.bin");
    if (!log) return log.error();
    decisions_.emplace(std::move(*log));
  }
  return write_inputs(partial_ + "/inputs", options_.inputs);
}

void ResultWriter::on_decision(const Decision& decision) {
  metrics_.on_decision(decision);
  if (decisions_) decisions_->write(decision);
}

void ResultWriter::on_placement(const Decision& /*decision*/, const GpuSet& gpus) {
  if (decisions_) decisions_->place(gpus);
}

void ResultWriter::on_job_end(const JobRecord& job) {
  metrics_.on_job_end(job);
  if (jobs_) write_job(*jobs_, job, symbols_);
}

void ResultWriter::on_turn(const TurnStats& turn) {
  metrics_.on_turn(turn);
  timeline_.on_turn(turn);
  if (turns_) turns_->used(put_turn(turns_->room(kTurnRoom), turn));
}

bool ResultWriter::failed() const {
  return (jobs_ && jobs_->failed()) || (turns_ && turns_->failed()) ||
         (decisions_ && decisions_->failed());
}

Status ResultWriter::close_files() {
  if (jobs_) {
    if (Status closed = jobs_->close(); !closed) return closed;
  }
  if (turns_) {
    if (Status closed = turns_->close(); !closed) return closed;
  }
  if (decisions_) {
    if (Status closed = decisions_->close(); !closed) return closed;
  }
  return write_timeline();
}

Status ResultWriter::write_timeline() const {
  std::string text(timeline_csv_header());
  text.push_back('\n');
  for (const TimelineBucket& bucket : timeline_.timeline().buckets) {
    append_number(text, bucket.start);
    for (const double value : {bucket.held, bucket.waiting, bucket.running, bucket.usable_gpus,
                               bucket.used_gpus, bucket.demanded_gpus, bucket.stops}) {
      text.push_back(',');
      append_number(text, value);
    }
    text.push_back('\n');
  }
  return write_file(partial_ + "/timeline.csv", text);
}

Result<PlacedResult> ResultWriter::place(const RunInfo& info, bool complete,
                                         std::string_view because) {
  PlacedResult placed;
  placed.folder = complete ? options_.folder : options_.folder + ".incomplete";
  const auto steps = [&]() -> Status {
    if (Status closed = close_files(); !closed) return closed;
    placed.summary = metrics_.summary();
    placed.summary.metrics.wall_s = info.wall_s;
    placed.summary.metrics.peak_rss_mb = info.peak_rss_mb;
    const std::string text =
        summary_to_json({info, placed.summary, complete, std::string(because)});
    if (Status written = write_file(partial_ + "/summary.json", text); !written) return written;
    return put_in_place(partial_, placed.folder, options_.force);
  };
  if (Status done = steps(); !done) {
    abandon();
    return done.error();
  }
  partial_.clear();
  return placed;
}

Result<PlacedResult> ResultWriter::finish(const RunInfo& info) { return place(info, true, {}); }

Result<PlacedResult> ResultWriter::finish_incomplete(const RunInfo& info,
                                                     std::string_view because) {
  return place(info, false, because);
}

void ResultWriter::abandon() {
  if (partial_.empty()) return;
  std::error_code ignored;
  fs::remove_all(partial_, ignored);
  partial_.clear();
}

}  // namespace muster
