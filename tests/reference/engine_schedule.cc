#include "reference/engine_schedule.h"

#include <map>

#include <gtest/gtest.h>

namespace muster {
namespace {

long whole(Seconds time) {
  const auto seconds = static_cast<long>(time);
  EXPECT_EQ(static_cast<Seconds>(seconds), time) << "not a whole second";
  return seconds;
}

// Draws what jobs hold from one placement to the next.
class Chart {
 public:
  Chart(int nodes, int gpus_per_node)
      : per_node_(static_cast<std::size_t>(gpus_per_node)),
        lines_(static_cast<std::size_t>(nodes) * per_node_) {}

  void hold(JobId job, const GpuSet& gpus, long from) {
    release(job, from);
    holds_[job] = {gpus, from};
  }
  void release(JobId job, long to) {
    const auto found = holds_.find(job);
    if (found == holds_.end()) return;
    const auto& [gpus, from] = found->second;
    for (int i = 0; i < gpus.nodes(); ++i) {
      for (std::size_t bit = 0; bit < per_node_; ++bit) {
        if ((gpus[i].mask >> bit & 1) == 0) continue;
        draw(index(gpus[i].node) * per_node_ + bit, index(job), from, to);
      }
    }
    holds_.erase(found);
  }
  std::vector<std::string> lines() const {
    std::size_t longest = 0;
    for (const std::string& line : lines_) longest = std::max(longest, line.size());
    std::vector<std::string> lines = lines_;
    for (std::string& line : lines) line.resize(longest, '.');
    return lines;
  }

 private:
  void draw(std::size_t gpu, std::size_t job, long from, long to) {
    std::string& line = lines_[gpu];
    line.resize(std::max(line.size(), static_cast<std::size_t>(to)), '.');
    for (auto t = static_cast<std::size_t>(from); t < static_cast<std::size_t>(to); ++t) {
      EXPECT_EQ(line[t], '.') << "GPU " << gpu << " is given to two jobs at " << t << " s";
      line[t] = letter_of(job);
    }
  }

  std::size_t per_node_;
  std::vector<std::string> lines_;
  std::map<JobId, std::pair<GpuSet, long>> holds_;
};

// Follows placements and ends in the order in which the engine tells them.
class ChartObserver final : public Observer {
 public:
  explicit ChartObserver(Chart& chart) : chart_(chart) {}
  void on_decision(const Decision& decision) override {
    const bool gives_back = decision.action == Action::kStop || decision.action == Action::kFinish;
    if (gives_back) chart_.release(decision.job, whole(decision.time));
  }
  void on_placement(const Decision& decision, const GpuSet& gpus) override {
    chart_.hold(decision.job, gpus, whole(decision.time));
  }

 private:
  Chart& chart_;
};

}  // namespace

PlainSchedule engine_schedule(int nodes, int gpus_per_node, const std::vector<PlainJob>& jobs,
                              Scenario scenario) {
  scenario.cluster = uniform_cluster(nodes, gpus_per_node);
  for (const PlainJob& job : jobs) {
    scenario.jobs.push_back(
        job_of(static_cast<Seconds>(job.arrival), static_cast<Seconds>(job.seconds), job.gpus));
  }
  Chart chart(nodes, gpus_per_node);
  ChartObserver observer(chart);
  scenario.observers.push_back(&observer);
  const RunLog log = simulate(std::move(scenario));
  PlainSchedule schedule;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const JobRecord record = log.job(static_cast<int>(i));
    schedule.jobs.push_back({whole(record.start), whole(record.end), record.preemptions});
  }
  schedule.chart = chart.lines();
  return schedule;
}

}  // namespace muster
