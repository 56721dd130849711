// What is left of a trace after Gavel's scheduler has worked on it for a while and stopped, by its
// own log: a trace of the remaining work, with which it, or a simulation, can go on.
//
// Jobs are numbered as they come in the trace. Of the log it reads the times in brackets, how many
// steps a job has left after a micro-task, the steps that its workers report when they ask for a
// longer lease, and which jobs have ended.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/job_spec.h"

namespace muster {

class GavelLog {
 public:
  static Result<GavelLog> load(const std::string& path);
  // `name` stands for the file in messages.
  static Result<GavelLog> parse(std::string_view text, const std::string& name);

  // From the first line to the last.
  Seconds elapsed() const { return last_ - first_; }

  // The jobs that are not over, in their order: with the steps that are left, as if submitted at
  // the log's last line if they had come by then. An error names a job that the trace has not.
  Result<std::vector<JobSpec>> remaining(const std::vector<JobSpec>& jobs) const;

 private:
  struct Work {
    double left = -1;                 // steps after its last micro-task; -1: nothing was said
    std::vector<double> in_progress;  // since then, by worker, as last reported
    bool over = false;
  };
  // A line's job and number, where it says something about one.
  void read_line(std::string_view line);

  std::string name_;
  std::map<std::uint64_t, Work> jobs_;
  Seconds first_ = 0;
  Seconds last_ = 0;
};

}  // namespace muster
