// Shows the progress of long work on stderr without slowing it down.
//
// Workers count with relaxed atomics; one background thread draws. On a terminal that is one line
// with bar, percent, rate, time left and the run that has been at work longest, redrawn in place
// and removed at the end. Elsewhere (a log file) a plain line appears every half minute, so short
// work leaves no trace.
//
//   Progress progress({.title = "compare", .unit = "jobs"});
//   ProgressTask& task = progress.task("las", 82247);
//   ... task.advance(1); ...    task.finish();
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "model/record.h"
#include "report/time_left.h"

namespace muster {

class ProgressTask {
 public:
  void advance(std::uint64_t steps) { done_.fetch_add(steps, std::memory_order_relaxed); }
  void set(std::uint64_t done) { done_.store(done, std::memory_order_relaxed); }
  void finish() { finished_.store(true, std::memory_order_relaxed); }

  // A run that is part of this task, under way as long as this object lives.
  class Part {
   public:
    Part(ProgressTask* task, std::string name);  // null: progress is not shown
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

   private:
    ProgressTask* task_;
    std::list<std::string>::iterator place_;
  };

 private:
  friend class Progress;
  // What has been at work longest; empty when finished.
  std::string at_work() const;

  std::string name_;
  std::uint64_t total_ = 0;  // 0: unknown
  std::atomic<std::uint64_t> done_{0};
  std::atomic<bool> finished_{false};
  mutable std::mutex mutex_;
  std::list<std::string> parts_;  // those under way, in the order in which they began
};

// What the line says.
struct ProgressState {
  std::string title;
  std::string unit;
  std::uint64_t done = 0;
  std::uint64_t total = 0;  // 0: unknown
  double fraction = 0;      // over all tasks
  int tasks = 1;
  int tasks_done = 0;
  double elapsed = 0;   // seconds
  std::string at_work;  // the run that has been at work longest; empty: not worth a word
  std::optional<TimeLeft::Answer> left;
};

class Progress {
 public:
  struct Options {
    std::string title;
    std::string unit = "jobs";
    int descriptor = 2;
    bool quiet = false;  // show nothing at all
    int tasks_expected =
        0;  // how many tasks there will be, when more come later; 0: those that are known
    double first_after = 0.3;  // seconds before the bar first shows
    double plain_every = 30;   // seconds between plain lines
  };

  explicit Progress(Options options);
  ~Progress();  // removes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // The task lives as long as this object. A `total` of 0 is unknown.
  ProgressTask& task(std::string name, std::uint64_t total);
  // Prints a line of its own above the bar.
  void say(std::string_view line);
  // Removes the line and draws no more.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;

  void draw_until_stopped();
  void draw();
  ProgressState state(double elapsed);
  void put(std::string_view text) const;

  const Options options_;
  const bool terminal_;
  const Clock::time_point begun_ = Clock::now();
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<ProgressTask> tasks_;
  bool stopping_ = false;
  bool shown_ = false;  // a bar stands on the terminal
  double last_plain_ = 0;
  TimeLeft time_left_;
  std::thread drawer_;
};

// Separate from drawing, so that it can be tested.
std::string progress_line(const ProgressState& state, int width, bool bar);

// Counts jobs that leave.
class ProgressObserver final : public Observer {
 public:
  explicit ProgressObserver(ProgressTask& task) : task_(task) {}
  void on_job_end(const JobRecord& /*job*/) override { task_.advance(1); }

 private:
  ProgressTask& task_;
};

}  // namespace muster
