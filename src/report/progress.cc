#include "report/progress.h"

#include <algorithm>
#include <cmath>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "report/table.h"
#include "report/terminal.h"
#include "report/units.h"

namespace muster {
namespace {

constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::string_view kClearLine = "\r\x1b[K";

std::string rate_text(double per_second, std::string_view unit) {
  if (per_second >= 1e6) return fmt::format("{:.1f} M {}/s", per_second / 1e6, unit);
  if (per_second >= 1e4) return fmt::format("{:.0f} k {}/s", per_second / 1e3, unit);
  return fmt::format("{} {}/s", count_text(std::round(per_second)), unit);
}

// Takes the last code point off.
void cut_last(std::string& text) {
  while (!text.empty()) {
    const auto last = static_cast<unsigned char>(text.back());
    text.pop_back();
    if ((last & 0xC0) != 0x80) return;
  }
}

std::string bar_text(double fraction, int width) {
  std::string bar;
  const int full = static_cast<int>(std::floor(fraction * width + 1e-9));
  for (int i = 0; i < width; ++i) bar.append(i < full ? "█" : "░");
  return bar;
}

// At most `most` columns of it, with dots where it was cut.
std::string shortened(std::string text, std::size_t most) {
  if (display_width(text) <= most) return text;
  while (display_width(text) >= most || text.ends_with(' ')) cut_last(text);
  return text + "…";
}

}  // namespace

ProgressTask::Part::Part(ProgressTask* task, std::string name) : task_(task) {
  if (task_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(task_->mutex_);
  place_ = task_->parts_.insert(task_->parts_.end(), std::move(name));
}

ProgressTask::Part::~Part() {
  if (task_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(task_->mutex_);
  task_->parts_.erase(place_);
}

std::string ProgressTask::at_work() const {
  if (finished_.load(std::memory_order_relaxed)) return "";
  const std::lock_guard<std::mutex> lock(mutex_);
  return parts_.empty() ? name_ : parts_.front();
}

std::string progress_line(const ProgressState& state, int width, bool bar) {
  std::string line = state.title;
  if (state.tasks > 1) line += fmt::format("  {}/{} runs", state.tasks_done, state.tasks);
  constexpr std::size_t kMostOfName = 28;
  if (!state.at_work.empty()) line += "  at " + shortened(state.at_work, kMostOfName);
  const bool known = state.fraction > 0 || state.total > 0;
  std::string tail;
  if (known) tail += fmt::format("{:3.0f} %  ", std::floor(state.fraction * 100));
  tail += fmt::format("{} {}", count_text(static_cast<double>(state.done)), state.unit);
  if (state.elapsed > 0 && state.done > 0) {
    tail += "  " + rate_text(static_cast<double>(state.done) / state.elapsed, state.unit);
  }
  if (state.left) {
    tail += fmt::format("  {}{} left", state.left->over ? "over " : "",
                        duration_text(std::ceil(state.left->seconds)));
  }
  if (bar && known) {
    const int room = width - 1 - static_cast<int>(display_width(line) + display_width(tail)) - 4;
    if (room >= 5) line += "  " + bar_text(state.fraction, std::min(room, 30));
  }
  line += "  " + tail;
  // Never wrap: a wrapped line cannot be redrawn in place. The text is cut by code points.
  while (bar && !line.empty() &&
         display_width(line) > static_cast<std::size_t>(std::max(width - 1, 1))) {
    cut_last(line);
  }
  return line;
}

Progress::Progress(Options options)
    : options_(std::move(options)), terminal_(is_terminal(options_.descriptor)) {
  if (!options_.quiet) drawer_ = std::thread([this] { draw_until_stopped(); });
}

Progress::~Progress() { stop(); }

ProgressTask& Progress::task(std::string name, std::uint64_t total) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ProgressTask& task = tasks_.emplace_back();
  task.name_ = std::move(name);
  task.total_ = total;
  return task;
}

void Progress::put(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t count = ::write(options_.descriptor, text.data(), text.size());
    if (count <= 0) return;  // no one is watching: progress is never worth an error
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void Progress::say(std::string_view line) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (options_.quiet) return;
  put(fmt::format("{}{}\n", shown_ ? kClearLine : "", line));
  shown_ = false;
}

void Progress::stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (drawer_.joinable()) drawer_.join();
  if (shown_) put(kClearLine);
  shown_ = false;
}

void Progress::draw_until_stopped() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopping_) {
    wake_.wait_for(lock, kRedraw, [this] { return stopping_; });
    if (!stopping_) draw();
  }
}

void Progress::draw() {
  if (tasks_.empty()) return;
  const double elapsed = std::chrono::duration<double>(Clock::now() - begun_).count();
  // Looked at every time: the time left is judged by how the counts move.
  const ProgressState now = state(elapsed);
  if (terminal_) {
    if (elapsed < options_.first_after) return;
    const int width = terminal_width(options_.descriptor);
    put(fmt::format("{}{}", kClearLine, progress_line(now, width, true)));
    shown_ = true;
  } else if (elapsed - last_plain_ >= options_.plain_every) {
    put(progress_line(now, 0, false) + "\n");
    last_plain_ = elapsed;
  }
}

ProgressState Progress::state(double elapsed) {
  ProgressState state;
  state.title = options_.title;
  state.unit = options_.unit;
  state.elapsed = elapsed;
  state.tasks = std::max(options_.tasks_expected, static_cast<int>(tasks_.size()));
  double fractions = 0;
  std::vector<TimeLeft::Run> runs;
  for (const ProgressTask& task : tasks_) {
    const std::uint64_t done = task.done_.load(std::memory_order_relaxed);
    const bool finished = task.finished_.load(std::memory_order_relaxed);
    state.done += done;
    state.total += task.total_;
    state.tasks_done += finished ? 1 : 0;
    runs.push_back({done, task.total_, finished});
    if (finished) {
      fractions += 1;
    } else if (task.total_ > 0) {
      fractions += std::min(1.0, static_cast<double>(done) / static_cast<double>(task.total_));
    }
    if (!state.at_work.empty()) continue;
    // A single task has the name of the whole.
    std::string name = task.at_work();
    if (state.tasks > 1 || name != task.name_) state.at_work = std::move(name);
  }
  state.fraction = state.tasks > 0 ? fractions / state.tasks : 0;
  state.left = time_left_.at(elapsed, runs, static_cast<std::size_t>(state.tasks));
  return state;
}

}  // namespace muster
