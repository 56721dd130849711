// Writes the results of a run into a folder during the run.
//
// Everything is written next to the target and moved there at the end, so a folder with the
// target's name is always complete. finish() reports the first failed write; check failed() now and
// then to stop early.
//
//   auto writer = ResultWriter::open(options, symbols);  // an error here comes before the run
//   engine.observe(**writer);
//   ... run ...
//   auto placed = (*writer)->finish(info);  // or finish_incomplete(), or abandon()
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/out_file.h"
#include "report/decision_log.h"
#include "report/metrics.h"
#include "report/run_info.h"
#include "report/timeline.h"

namespace muster {

struct ResultOptions {
  std::string folder;
  bool force = false;     // set a foreign folder of that name aside
  bool jobs = true;       // jobs.csv
  bool decisions = true;  // decisions.bin
  bool turns = false;     // turns.csv: every turn, which can be long
  MetricsFold::Options metrics = {};
  std::size_t timeline_buckets = TimelineFold::kBuckets;
  std::map<std::string, std::string> inputs = {};  // file name -> text, for inputs/
};

struct PlacedResult {
  std::string folder;
  RunSummary summary;
};

class ResultWriter final : public Observer {
 public:
  static Result<std::unique_ptr<ResultWriter>> open(ResultOptions options, const Symbols& symbols);
  ~ResultWriter() override;  // abandons what was not finished
  ResultWriter(const ResultWriter&) = delete;
  ResultWriter& operator=(const ResultWriter&) = delete;

  MetricsFold& metrics() { return metrics_; }
  const TimelineFold& timeline() const { return timeline_; }

  void on_decision(const Decision& decision) override;
  void on_placement(const Decision& decision, const GpuSet& gpus) override;
  void on_job_end(const JobRecord& job) override;
  void on_turn(const TurnStats& turn) override;

  // A write failed; the result cannot be completed any more.
  bool failed() const;

  // Closes all files and moves the folder to its place.
  Result<PlacedResult> finish(const RunInfo& info);
  // For a run that was stopped: the same, marked as incomplete in its summary, in
  // `folder`.incomplete.
  Result<PlacedResult> finish_incomplete(const RunInfo& info, std::string_view because);
  // Removes everything that was written.
  void abandon();

 private:
  ResultWriter(ResultOptions options, std::string partial, const Symbols& symbols);
  Status open_files();
  Status close_files();
  Result<PlacedResult> place(const RunInfo& info, bool complete, std::string_view because);
  Status write_timeline() const;

  ResultOptions options_;
  std::string partial_;  // empty once it was moved or removed
  const Symbols& symbols_;
  MetricsFold metrics_;
  TimelineFold timeline_;
  std::optional<OutFile> jobs_;
  std::optional<OutFile> turns_;
  std::optional<DecisionWriter> decisions_;
};

std::string_view jobs_csv_header();
std::string_view timeline_csv_header();

}  // namespace muster
