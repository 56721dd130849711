#include "agent/keeper/keeper.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <signal.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fmt/format.h>

#include "agent/keeper/process_tree.h"

namespace muster {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// How long a rank that has left may take to end before it gets the stop signal; and how long before
// the end of the grace those that are done get it.
constexpr double kGoodbyeSeconds = 5;

std::string random_token() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) return {};
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

Error failure(std::string_view what) {
  return Error{fmt::format("cannot {}: {}", what, std::strerror(errno))};
}

}  // namespace

double keeper_clock() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Keeper::Keeper(KeeperOrder order, RecordFile& record, std::string folder)
    : order_(std::move(order)),
      record_(record),
      folder_(std::move(folder)),
      generation_(order_.generation) {}

Status Keeper::prepare() {
  place_.order = &order_;
  place_.token = random_token();
  if (place_.token.empty()) return failure("draw a token");
  place_.socket = folder_ + "/job.sock";
  place_.mark = folder_;
  desk_.emplace(DeskSettings{order_.job, order_.launch, place_.token, order_.nodes == 1});

  sigset_t all;
  sigfillset(&all);
  signals_ = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) return failure("receive signals");
  Result<LineServer> control = LineServer::listen("control.sock");
  if (!control) return control.error();
  control_.emplace(std::move(*control));
  const Identity* const identity = order_.identity ? &*order_.identity : nullptr;
  Result<LineServer> jobs = LineServer::listen("job.sock", identity);
  if (!jobs) return jobs.error();
  jobs_.emplace(std::move(*jobs));

  {
    // What its user cannot see counts as missing: errors must not reveal what only root can see.
    const ActingAs user(identity);
    const Result<std::string> program = find_program(order_);
    if (!program) return program.error();
    place_.program = *program;
  }
  std::string note;
  cgroup_.emplace(order_, note);
  if (!note.empty()) notes_.push_back(note);
  place_.cgroup = cgroup_->procs();
  int gate[2];
  int failures[2];
  if (pipe2(gate, O_CLOEXEC) != 0 || pipe2(failures, O_CLOEXEC) != 0) return failure("make a pipe");
  place_.gate = gate[0];
  place_.gate_opener = gate[1];
  place_.failures = failures[1];
  for (const KeeperRank& rank : order_.ranks) {
    if (Status opened = open_rank(rank); !opened) return opened;
  }
  // Once all ranks execute their program, the other end of this pipe is closed.
  close(failures[1]);
  place_.failures = failures[0];
  fcntl(failures[0], F_SETFL, O_NONBLOCK);
  return Done{};
}

Status Keeper::open_rank(const KeeperRank& rank) {
  Result<LogFile> log =
      LogFile::open(fmt::format("rank-{}.log", rank.rank), order_.log_bytes, order_.log_files);
  if (!log) return log.error();
  int output[2];
  if (pipe2(output, O_CLOEXEC) != 0) return failure("make a pipe");
  const Result<pid_t> process = place_rank(place_, rank, output[1]);
  close(output[1]);
  fcntl(output[0], F_SETFL, O_NONBLOCK);
  Child& child = children_.emplace_back();
  child.output = output[0];
  child.log = std::make_unique<LogFile>(std::move(*log));
  if (!process) {
    child.ended = true;
    return process.error();
  }
  child.process = *process;
  return Done{};
}

void Keeper::run() {
  began_ = contact_ = keeper_clock();
  if (Status prepared = prepare(); !prepared) {
    clear(prepared.error().message);
  } else {
    set(State::kReady);
  }
  while (!recorded_) {
    const double now = keeper_clock();
    const double wait = next_deadline(now) - now;
    wait_and_serve(std::isinf(wait) ? -1 : static_cast<int>(std::ceil(std::max(0.0, wait) * 1e3)));
    reap();
    pass_time(keeper_clock());
    pass_on();
  }
}

void Keeper::set(State state) {
  state_ = state;
  if (control_) control_->send_all(state_line());
}

void Keeper::go() {
  if (state_ != State::kReady) return;
  began_ = keeper_clock();
  const std::string tickets(order_.ranks.size(), 'g');
  if (write(place_.gate_opener, tickets.data(), tickets.size()) !=
      static_cast<ssize_t>(tickets.size())) {
    return clear("cannot open the gate");
  }
  end_.started = true;  // unless a rank cannot become its program
  set(State::kStarting);
}

void Keeper::stop(double grace, const std::string& cause) {
  const double now = keeper_clock();
  if (state_ == State::kReady) return clear(cause + " before it started");
  if (state_ == State::kClearing || state_ == State::kOver) return;
  if (grace <= 0) return clear(cause);
  if (state_ == State::kStopping) {
    stop_deadline_ = std::min(stop_deadline_, now + grace);
    return;
  }
  if (cause_.empty()) cause_ = cause;
  stop_deadline_ = now + grace;
  warning_ = now + std::max(grace - kGoodbyeSeconds, 0.5 * grace);
  desk_->ask_to_leave();
  set(State::kStopping);
}

// Ranks that have said goodbye end by themselves. Those that are done may be saving their result,
// which a signal would spoil: they get most of the grace for it.
double Keeper::signal_at(double now) const {
  if (desk_->someone_listens()) return kInfinity;
  if (desk_->done()) return std::min(warning_, stop_deadline_);
  return left_since_ > 0 ? left_since_ + kGoodbyeSeconds : now;
}

void Keeper::signal_ranks() {
  if (signalled_) return;
  signalled_ = true;
  for (const Child& child : children_) {
    if (child.process <= 0 || child.ended) continue;
    ::kill(-child.process, order_.stop_signal);
    ::kill(-child.process, SIGCONT);  // one that stands still could not act on it
  }
}

void Keeper::clear(const std::string& cause) {
  if (state_ == State::kClearing || state_ == State::kOver) return;
  if (cause_.empty()) cause_ = cause;
  set(State::kClearing);
  next_try_ = 0;
}

void Keeper::reap() {
  while (true) {
    int status = 0;
    const pid_t process = waitpid(-1, &status, WNOHANG);
    if (process < 0 && errno == EINTR) continue;
    if (process <= 0) {
      // No children at all: nothing of the launch is left.
      if (process < 0 && errno == ECHILD && state_ == State::kClearing) {
        next_try_ = 0;
        set(State::kOver);
      }
      return;
    }
    for (std::size_t i = 0; i < children_.size(); ++i) {
      if (children_[i].process == process) rank_ended(children_[i], order_.ranks[i], status);
    }
  }
}

void Keeper::rank_ended(Child& child, const KeeperRank& rank, int status) {
  child.ended = true;
  RankExit exit{rank.rank, -1, 0};
  if (WIFEXITED(status)) exit.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) exit.signal = WTERMSIG(status);
  end_.ranks.push_back(exit);
  const bool all = std::all_of(children_.begin(), children_.end(),
                               [](const Child& other) { return other.ended; });
  if (state_ == State::kReady) return clear(fmt::format("rank {} ended at the gate", rank.rank));
  if (state_ == State::kStarting) read_failures();
  if (all) return clear("all ranks have ended");
  if (exit.code == 0 || state_ == State::kClearing || state_ == State::kStopping) return;
  end_.broke = true;
  // The others would wait for it for ever.
  stop(order_.grace_seconds,
       exit.signal != 0 ? fmt::format("rank {} ended by signal {}", rank.rank, exit.signal)
                        : fmt::format("rank {} ended with exit code {}", rank.rank, exit.code));
}

void Keeper::pass_time(double now) {
  if (state_ == State::kReady && now >= began_ + order_.prepare_seconds) {
    clear("the order to go did not come");
  }
  if (order_.fence_seconds > 0 && now >= contact_ + order_.fence_seconds &&
      state_ < State::kClearing) {
    end_.told_to_stop = true;
    clear(fmt::format("no contact for {} seconds", order_.fence_seconds));
  }
  if (lease_until_ > 0 && now >= lease_until_ && !greeted_.empty() && state_ == State::kRunning) {
    end_.told_to_stop = true;
    stop(order_.grace_seconds, "its lease ended");
  }
  if (state_ == State::kStopping) {
    if (desk_->left() && left_since_ <= 0) left_since_ = now;
    if (now >= signal_at(now)) signal_ranks();
    if (now >= stop_deadline_) clear(cause_);
  }
  if (state_ == State::kClearing && now >= next_try_) {
    if (cgroup_) cgroup_->kill();
    kill_descendants();
    next_try_ = now + 0.05;
    reap();
  }
  if (state_ == State::kOver && now >= next_try_) {
    next_try_ = now + 1;
    write_record();
  }
}

double Keeper::next_deadline(double now) const {
  double next = kInfinity;
  const auto at = [&next](double time) { next = std::min(next, time); };
  if (state_ == State::kReady) at(began_ + order_.prepare_seconds);
  if (order_.fence_seconds > 0 && state_ < State::kClearing) at(contact_ + order_.fence_seconds);
  if (lease_until_ > 0 && state_ == State::kRunning && !greeted_.empty()) at(lease_until_);
  if (state_ == State::kStopping) {
    at(stop_deadline_);
    if (!signalled_) at(std::max(now + 0.01, signal_at(now)));
  }
  if (state_ >= State::kClearing) at(next_try_);
  return next;
}

void Keeper::write_record() {
  for (Child& child : children_) {
    read_output(child);
    if (child.log && child.log->lost_bytes() > 0) {
      notes_.push_back(
          fmt::format("{} bytes of output were lost: the disk was full", child.log->lost_bytes()));
    }
  }
  if (cgroup_) cgroup_->remove();
  end_.left = desk_ && desk_->left();
  end_.done = desk_ && desk_->done();
  ExitRecord record;
  record.job = order_.job;
  record.launch = order_.launch;
  record.outcome = outcome_of(end_);
  record.cause = cause_;
  record.exit_code = exit_code(end_);
  record.seconds = end_.started ? keeper_clock() - began_ : 0;
  record.step = desk_ ? desk_->step() : -1;
  record.saved_step = desk_ ? desk_->saved_step() : -1;
  record.ranks = end_.ranks;
  record.notes = std::exchange(notes_, {});
  if (record_.write(record)) {
    recorded_ = true;
    if (control_)
      control_->send_all(fmt::format("state recorded {}", keeper_outcome_name(record.outcome)));
  } else {
    notes_ = record.notes;
    recorded_ = access(folder_.c_str(), F_OK) != 0;  // a folder that is gone needs no record
  }
}

}  // namespace muster
