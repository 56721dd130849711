#include "report/metrics.h"

#include <algorithm>
#include <cmath>

namespace muster {
namespace {

constexpr std::size_t kReasons = 256;  // a Reason is one byte
constexpr double kShortRun = 10;       // seconds; the customary bound of the bounded slowdown

double count_of(std::uint64_t count) { return static_cast<double>(count); }

double mean_of(const Sum& sum, std::uint64_t count) {
  return count == 0 ? kNoFigure : sum.value() / count_of(count);
}

}  // namespace

void MetricsFold::Group::add(const JobRecord& job) {
  ++jobs;
  preemptions += static_cast<std::uint64_t>(job.preemptions);
  gpu_seconds.add(job.gpu_seconds);
  switch (job.status) {
    case JobState::kFinished:
      ++finished;
      completion.add(job.completion_time());
      queue.add(job.queue);
      duration.add(job.duration);
      break;
    case JobState::kRefused:
      ++refused;
      break;
    case JobState::kCancelled:
      ++cancelled;
      break;
    default:
      ++failed;
      break;
  }
}

MetricsFold::MetricsFold(const Symbols& symbols, Options options)
    : symbols_(symbols),
      options_(options),
      completion_(options.exact_values),
      queue_(options.exact_values),
      responsiveness_(options.exact_values),
      slowdown_(options.exact_values),
      waits_(2 * kReasons) {}

MetricsFold::Group& MetricsFold::group_of(std::vector<Group>& groups, Symbol symbol) const {
  const auto place = static_cast<std::size_t>(symbol);
  if (place >= groups.size()) groups.resize(std::max(symbols_.size(), place + 1));
  return groups[place];
}

void MetricsFold::on_decision(const Decision& decision) {
  const std::size_t cell = static_cast<std::size_t>(decision.action) * kReasons +
                           static_cast<std::size_t>(decision.reason);
  if (cell >= decisions_.size()) decisions_.resize(cell + 1);
  ++decisions_[cell];
  if (decision.action == Action::kBlock) {
    block_ = decision.reason;
    block_job_ = decision.job;
  } else if (decision.job == block_job_ && decision.action == Action::kStart) {
    // No job is blocked until the log says so again: the jobs before the others take all that is
    // free.
    block_ = Reason::kNone;
    block_job_ = kNoJob;
  }
  if (decision.action == Action::kHold) hold_ = decision.reason;
  switch (decision.action) {
    case Action::kSubmit:
      note_come(decision);
      comes_now_ = true;
      break;
    case Action::kStart:
      starts_now_ = starts_now_ || !started_;
      started_ = true;
      break;
    case Action::kFinish:
      ++ended_;
      break;
    case Action::kStop:
    case Action::kMove:
    case Action::kResize:
      ++disturbed_;
      break;
    default:
      break;
  }
  for (const auto& metric : custom_) metric->on_decision(decision);
}

double MetricsFold::contention_at(Seconds time) const {
  if (turns_ == 0 || last_.usable_gpus <= 0) return contention_;
  const double now = static_cast<double>(last_.demanded_gpus) / last_.usable_gpus;
  return contention_ + (time - last_.time) * std::max(1.0, now);
}

void MetricsFold::note_come(const Decision& decision) {
  if (index(decision.job) < oldest_) return;
  const std::size_t place = index(decision.job) - oldest_;
  if (come_.size() <= place) come_.resize(place + 1);
  come_[place].time = decision.time;
  come_[place].contention = contention_at(decision.time);
}

// A job whose arrival was not reported counts as if it had met no contention.
void MetricsFold::add_rho(const JobRecord& job) {
  double contention = 1;
  if (index(job.id) >= oldest_ && index(job.id) - oldest_ < come_.size()) {
    Come& come = come_[index(job.id) - oldest_];
    const Seconds stayed = job.end - come.time;
    if (stayed > 0) contention = (contention_at(job.end) - come.contention) / stayed;
    come.left = true;
    while (!come_.empty() && come_.front().left) {
      come_.pop_front();
      ++oldest_;
    }
  }
  if (job.id < options_.first || job.id > options_.last) return;
  if (job.status != JobState::kFinished || job.duration <= 0) return;
  const double rho = job.completion_time() / (job.duration * std::max(1.0, contention));
  rho_.add(rho);
  ++rhos_;
  most_rho_ = std::max(most_rho_, rho);
}

void MetricsFold::on_job_end(const JobRecord& job) {
  add_rho(job);
  if (job.id < options_.first || job.id > options_.last) return;
  all_.add(job);
  group_of(users_, job.user).add(job);
  group_of(partitions_, job.partition).add(job);
  sizes_[job.gpus].add(job);
  priorities_[job.priority].add(job);
  cost_.add(job.cost);
  restarts_ += static_cast<std::uint64_t>(job.restarts);
  resizes_ += static_cast<std::uint64_t>(job.resizes);
  lost_work_.add(job.lost_work);
  overhead_.add(job.overhead);
  first_submit_ = std::min(first_submit_, job.submit);
  if (job.start != kNever) responsiveness_.add(job.start - job.submit);
  const bool finished = job.status == JobState::kFinished;
  if (finished) {
    last_end_ = std::max(last_end_, job.end);
    const double completion = job.completion_time();
    completion_.add(completion);
    queue_.add(job.queue);
    if (job.duration > 0) slowdown_.add(completion / job.duration);
    bounded_slowdown_.add(std::max(1.0, completion / std::max(job.duration, kShortRun)));
  }
  if (job.deadline != kNever) {
    ++deadlines_;
    const bool met = options_.deadlines_by_completion_time
                         ? finished && job.completion_time() <= job.deadline
                         : job.met_deadline();
    if (met) {
      ++deadlines_met_;
    } else if (finished) {
      ++late_;
      lateness_.add(job.lateness());
    }
    value_.add(job.value);
    best_value_.add(job.best_value);
  } else if (finished) {
    ++best_effort_;
    best_effort_completion_.add(job.completion_time());
  }
  for (const auto& metric : custom_) metric->on_job_end(job);
}

void MetricsFold::on_turn(const TurnStats& turn) {
  // What the turn before left behind held until now.
  const double span = turns_ == 0 ? 0 : turn.time - last_.time;
  const std::int32_t queued = last_.waiting + last_.held;
  if (queued + last_.running > 0) {
    used_.add(span * last_.used_gpus);
    usable_.add(idle_usable_ + span * last_.usable_gpus);
    queued_.add(span * queued);
    busy_time_.add(idle_time_ + span);
    idle_usable_ = 0;
    idle_time_ = 0;
    busy_seen_ = true;
    if (last_.waiting > 0) waits_[static_cast<std::size_t>(last_block_)].add(span * last_.waiting);
    if (last_.held > 0)
      waits_[kReasons + static_cast<std::size_t>(last_hold_)].add(span * last_.held);
  } else if (busy_seen_) {
    idle_usable_ += span * last_.usable_gpus;
    idle_time_ += span;
  }
  if (starts_now_) at_first_start_ = used_so_far();
  if (comes_now_) at_last_arrival_ = used_so_far();
  starts_now_ = comes_now_ = false;
  contention_ = contention_at(turn.time);
  if (turn.spent > 0) {
    spent_.add(turn.spent);
    priced_ = true;
  }
  count_leases();
  if (turn.waiting == 0) block_ = Reason::kNone;
  last_block_ = block_;
  last_hold_ = hold_;
  most_queued_ = std::max(most_queued_, turn.waiting + turn.held);
  most_usable_ = std::max(most_usable_, turn.usable_gpus);
  turns_ += 1 + static_cast<std::uint64_t>(turn.skipped);
  programs_ += static_cast<std::uint64_t>(turn.programs);
  gaps_.add(turn.gap * turn.programs);
  largest_gap_ = std::max(largest_gap_, turn.gap);
  last_ = turn;
  for (const auto& metric : custom_) metric->on_turn(turn);
}

void MetricsFold::count_leases() {
  const std::int64_t stayed = std::max<std::int64_t>(0, last_.running - ended_);
  leases_ += static_cast<std::uint64_t>(stayed);
  extended_ += static_cast<std::uint64_t>(std::max<std::int64_t>(0, stayed - disturbed_));
  ended_ = 0;
  disturbed_ = 0;
}

void MetricsFold::fill_times(Metrics& metrics) const {
  metrics.avg_jct_s = completion_.mean();
  metrics.p50_jct_s = completion_.at(0.5);
  metrics.p90_jct_s = completion_.at(0.9);
  metrics.p99_jct_s = completion_.at(0.99);
  metrics.max_jct_s = completion_.greatest();
  if (all_.finished > 0) metrics.makespan_s = last_end_ - first_submit_;
  metrics.avg_queue_s = queue_.mean();
  metrics.p50_queue_s = queue_.at(0.5);
  metrics.p99_queue_s = queue_.at(0.99);
  metrics.p999_queue_s = queue_.at(0.999);
  metrics.avg_responsiveness_s = responsiveness_.mean();
  metrics.p99_responsiveness_s = responsiveness_.at(0.99);
  metrics.avg_slowdown = slowdown_.mean();
  metrics.p99_slowdown = slowdown_.at(0.99);
  metrics.avg_bounded_slowdown = mean_of(bounded_slowdown_, all_.finished);
  if (usable_.value() > 0) {
    metrics.utilization = used_.value() / usable_.value();
    metrics.powered_gpu_hours = usable_.value() / 3600;
  }
  if (const double usable = at_last_arrival_.usable - at_first_start_.usable;
      started_ && usable > 0) {
    metrics.busy_utilization = (at_last_arrival_.used - at_first_start_.used) / usable;
  }
  if (busy_time_.value() > 0) metrics.avg_queue_length = queued_.value() / busy_time_.value();
}

RunSummary MetricsFold::summary() const {
  RunSummary result;
  Metrics& metrics = result.metrics;
  metrics.jobs = count_of(all_.jobs);
  metrics.finished = count_of(all_.finished);
  metrics.refused = count_of(all_.refused);
  metrics.failed = count_of(all_.failed);
  metrics.cancelled = count_of(all_.cancelled);
  metrics.unfinished = last_.held + last_.waiting + last_.running;
  // First the curves: they sort the values, and the quantiles below then come for free.
  result.jct_curve = completion_.curve(RunSummary::kCurvePoints);
  result.queue_curve = queue_.curve(RunSummary::kCurvePoints);
  if (!completion_.exact()) result.quantile_error = 0.0005;
  fill_times(metrics);
  metrics.preemptions = count_of(all_.preemptions);
  metrics.restarts = count_of(restarts_);
  metrics.resizes = count_of(resizes_);
  metrics.gpu_hours = all_.gpu_seconds.value() / 3600;
  if (priced_) {
    metrics.cost_usd = spent_.value();
    metrics.job_cost_usd = cost_.value();
  }
  metrics.lost_work_s = lost_work_.value();
  metrics.overhead_s = overhead_.value();
  metrics.deadline_jobs = count_of(deadlines_);
  if (deadlines_ > 0) metrics.deadline_met_ratio = count_of(deadlines_met_) / count_of(deadlines_);
  metrics.late_jobs = count_of(late_);
  if (late_ > 0) metrics.avg_lateness_s = lateness_.value() / count_of(late_);
  if (best_value_.value() > 0) metrics.value_ratio = value_.value() / best_value_.value();
  if (deadlines_ > 0) {
    metrics.best_effort_avg_jct_s = mean_of(best_effort_completion_, best_effort_);
  }
  metrics.fairness_jain = fairness();
  metrics.avg_rho = mean_of(rho_, rhos_);
  if (rhos_ > 0) metrics.max_rho = most_rho_;
  if (leases_ > 0) metrics.lease_extension_ratio = count_of(extended_) / count_of(leases_);
  if (programs_ > 0) {
    metrics.programs = count_of(programs_);
    metrics.avg_gap = mean_of(gaps_, programs_);
    metrics.max_gap = largest_gap_;
  }
  metrics.max_queue_length = most_queued_;
  metrics.cluster_gpus = most_usable_;
  metrics.turns = count_of(turns_);
  for (const auto& metric : custom_) {
    result.custom.push_back({std::string(metric->key()), std::string(metric->label()),
                             metric->unit(), metric->better(), metric->value()});
  }
  fill_groups(result);
  fill_decisions(result);
  return result;
}

double MetricsFold::fairness() const {
  double sum = 0;
  double squares = 0;
  int users = 0;
  for (const Group& user : users_) {
    if (user.finished == 0 || user.completion.value() <= 0) continue;
    const double progress = user.duration.value() / user.completion.value();
    sum += progress;
    squares += progress * progress;
    ++users;
  }
  return users < 2 || squares == 0 ? kNoFigure : sum * sum / (users * squares);
}

GroupRow MetricsFold::row(std::string name, const Group& group) {
  GroupRow row;
  row.name = std::move(name);
  row.jobs = count_of(group.jobs);
  row.finished = count_of(group.finished);
  row.refused = count_of(group.refused);
  row.failed = count_of(group.failed);
  row.cancelled = count_of(group.cancelled);
  row.preemptions = count_of(group.preemptions);
  row.avg_jct_s = mean_of(group.completion, group.finished);
  row.avg_queue_s = mean_of(group.queue, group.finished);
  row.gpu_hours = group.gpu_seconds.value() / 3600;
  return row;
}

void MetricsFold::fill_groups(RunSummary& summary) const {
  const auto rows = [&](const std::vector<Group>& groups) {
    std::vector<GroupRow> result;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (groups[i].jobs > 0) {
        result.push_back(row(symbols_.text(Symbol{static_cast<std::uint32_t>(i)}), groups[i]));
      }
    }
    return result;
  };
  const auto by_name = [](const GroupRow& a, const GroupRow& b) { return a.name < b.name; };
  summary.partitions = rows(partitions_);
  std::sort(summary.partitions.begin(), summary.partitions.end(), by_name);
  summary.users = rows(users_);
  std::sort(summary.users.begin(), summary.users.end(), by_name);
  std::stable_sort(summary.users.begin(), summary.users.end(),
                   [](const GroupRow& a, const GroupRow& b) { return a.gpu_hours > b.gpu_hours; });
  if (summary.users.size() > RunSummary::kMostUsers) summary.users.resize(RunSummary::kMostUsers);
  for (const auto& [gpus, group] : sizes_)
    summary.sizes.push_back(row(std::to_string(gpus), group));
  if (priorities_.size() < 2) return;
  for (const auto& [priority, group] : priorities_)
    summary.priorities.push_back(row(std::to_string(priority), group));
}

void MetricsFold::fill_decisions(RunSummary& summary) const {
  for (std::size_t cell = 0; cell < decisions_.size(); ++cell) {
    if (decisions_[cell] == 0) continue;
    summary.decisions.push_back({static_cast<Action>(cell / kReasons),
                                 static_cast<Reason>(cell % kReasons), count_of(decisions_[cell])});
  }
  for (std::size_t i = 0; i < waits_.size(); ++i) {
    if (waits_[i].value() <= 0) continue;
    summary.waits.push_back({static_cast<Reason>(i % kReasons), i >= kReasons, waits_[i].value()});
  }
  std::stable_sort(
      summary.waits.begin(), summary.waits.end(),
      [](const WaitCause& a, const WaitCause& b) { return a.job_seconds > b.job_seconds; });
}

}  // namespace muster
