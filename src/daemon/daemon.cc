#include "daemon/daemon.h"

#include <cerrno>
#include <chrono>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/out_file.h"
#include "base/text.h"

namespace muster {
namespace {

constexpr const char* kEpoch = "epoch";
constexpr double kHealthySeconds = 30;
constexpr long long kHealthyTurns = 3;
// Whoever asks what would be if gives up after two minutes.
constexpr std::chrono::seconds kAnswerLimit(30);

Seconds latest_time(const StoredWorld& world) {
  Seconds latest = 0;
  const auto see = [&latest](Seconds time) {
    if (time != kNever) latest = std::max(latest, time);
  };
  for (const StoredJob& job : world.jobs) {
    for (const Seconds time : {job.submitted, job.admitted, job.first_start, job.ended}) see(time);
  }
  for (const StoredRun& run : world.runs) {
    for (const Seconds time : {run.planned, run.started, run.ended}) see(time);
  }
  return latest;
}

}  // namespace

std::filesystem::path api_socket(const std::filesystem::path& state) { return state / "api.sock"; }

Result<std::unique_ptr<Daemon>> Daemon::start(DaemonSettings settings) {
  std::unique_ptr<Daemon> daemon(new Daemon(std::move(settings)));
  if (Status open = daemon->open(); !open) return open.error();
  return daemon;
}

Daemon::~Daemon() {
  if (server_) server_->stop();
  questions_.reset();
  if (network_) network_->stop();
  // Submissions that are on their way to the disk are told before the board is gone.
  committer_.reset();
  for (const ChangeRequest& change : changes_) {
    if (change.told) change.told(Error{"the daemon has ended"});
  }
  for (const auto& told : reloads_) told(Error{"the daemon has ended"});
  executor_.reset();
}

Status Daemon::open() {
  Result<std::unique_ptr<SqliteStore>> store = SqliteStore::open(settings_.state);
  if (!store) return store.error();
  store_ = std::move(*store);
  const Result<StoredWorld> world = store_->load();
  if (!world) return world.error();
  generation_ = static_cast<std::uint64_t>(world->generation);
  began_ = LiveClock::unix_now();
  settings_.core.own_user = user_name(geteuid());
  const auto kept = world->notes.find(kEpoch);
  const double epoch = parse_real(kept == world->notes.end() ? "" : kept->second).value_or(began_);
  clock_ = std::make_unique<LiveClock>(epoch, latest_time(*world));
  committer_ = std::make_unique<Committer>(*store_);
  read_board(*world);
  auto executor = settings_.make_executor(store_->directory().path(), generation_, mailbox_);
  if (!executor) return executor.error();
  executor_ = std::move(*executor);
  if (!settings_.recording.empty()) {
    auto recorder = CoreRecorder::open(settings_.recording);
    if (!recorder) return recorder.error();
    recorder_ = std::move(*recorder);
  }
  Batch first;
  first.notes[kEpoch] = exact_text(epoch);
  if (Status done = committer_->commit(first); !done) return done;
  if (Status opened = open_core(*world); !opened) return opened;
  act(core_->take(clock_->now()));
  ask_for_census();
  return open_api(*world);
}

void Daemon::read_board(const StoredWorld& world) {
  for (const StoredJob& row : world.jobs) {
    // One that cannot be read fails when the core adopts it.
    Result<JobRequest> request = parse_job_request(row.description);
    board_.add(row,
               std::make_shared<const JobRequest>(request ? std::move(*request) : JobRequest()));
  }
  Batch rest;
  rest.runs = world.runs;
  rest.nodes = world.nodes;
  board_.put(rest);
}

Status Daemon::open_api(const StoredWorld& world) {
  std::uint32_t next = 1;
  for (const StoredJob& job : world.jobs) {
    next = std::max(next, static_cast<std::uint32_t>(job.id) + 1);
  }
  intake_ = std::make_unique<Intake>(
      board_, *committer_, settings_.intake, next, [this] { return clock_->now(); },
      [this](StoredJob row, std::shared_ptr<const JobRequest> request) {
        {
          const std::lock_guard lock(mutex_);
          submissions_.push_back({std::move(row), std::move(request)});
        }
        mailbox_.wake();
      });
  questions_ = std::make_unique<Questions>(kAnswerLimit);
  tokens_ = std::make_unique<Tokens>(*committer_);
  if (Status read = tokens_->load(world.users); !read) return read;
  const std::filesystem::path& state = store_->directory().path();
  api_ = std::make_unique<Api>(ApiParts{
      board_, *intake_, *clock_, Access(settings_.operators), *tokens_, rate_, state / "runs",
      state / "ended", [this](ChangeRequest change) { ask(std::move(change)); },
      [this](JobId job) { return committer_->decisions(job); },
      [this](Questions::Work work) { return questions_->ask(std::move(work)); },
      [this] { return status_json(); }, [this] { return frozen(); }, settings_.gpus,
      [this](bool drain) { wanted_ = drain ? Wanted::kDrain : Wanted::kLeave; },
      [this](std::function<void(const Status&)> told) {
        {
          const std::lock_guard lock(mutex_);
          reloads_.push_back(std::move(told));
        }
        mailbox_.wake();
      }});
  return open_doors();
}

Status Daemon::open_doors() {
  const HttpHandler handler = [this](const HttpRequest& request, HttpReply reply) {
    api_->handle(request, std::move(reply));
  };
  const std::filesystem::path& state = store_->directory().path();
  // Other users may reach the socket, and their jobs their own sockets; none may list the folder.
  const bool others = settings_.for_all || !settings_.listen.empty();
  if (others && chmod(state.c_str(), 0711) != 0) {
    return file_error("set the permissions of", state.string(), errno);
  }
  if (!settings_.listen.empty()) {
    auto context = TlsContext::server(settings_.certificate, settings_.key);
    if (!context) return context.error();
    auto network =
        HttpServer::listen_tls(settings_.listen, std::move(*context), settings_.http, handler);
    if (!network) return network.error();
    network_ = std::move(*network);
  }
  auto server = HttpServer::listen(api_socket(state), settings_.for_all, settings_.http, handler);
  if (!server) return server.error();
  server_ = std::move(*server);
  return Done{};
}

void Daemon::ask(ChangeRequest change) {
  {
    const std::lock_guard lock(mutex_);
    changes_.push_back(std::move(change));
  }
  mailbox_.wake();
}

void Daemon::ask_for_census() {
  core_->begin_census();
  // Never used twice, also by a later daemon.
  executor_->census((generation_ << 20U) + ++censuses_);
}

void Daemon::run(const std::function<Wanted()>& wanted) {
  asked_ = wanted;
  serve();
  // Who ends because it was told to has not died.
  if (!healthy_) forget_deaths();
}

void Daemon::serve() {
  bool draining = false;
  while (true) {
    Wanted now_wanted = wanted_.exchange(Wanted::kGoOn);
    if (now_wanted == Wanted::kGoOn && asked_) now_wanted = asked_();
    if (now_wanted == Wanted::kLeave || trouble_ == "ended") return;
    reload_if(now_wanted == Wanted::kReload);
    if (now_wanted == Wanted::kDrain && !draining) {
      draining = true;
      core_->close(clock_->now());
    }
    turn();
    if (draining && core_->launches_alive() == 0) return;
    // What kills it meets it in the first turns.
    if (!healthy_ && (core_->engine().turns() >= kHealthyTurns ||
                      LiveClock::unix_now() > tried_ + kHealthySeconds)) {
      forget_deaths();
    }
  }
}

void Daemon::turn() {
  const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  const std::vector<Report> reports = mailbox_.take(std::min(soon, clock_->when(core_->due())));
  std::vector<Submission> submissions;
  std::vector<ChangeRequest> changes;
  {
    const std::lock_guard lock(mutex_);
    submissions.swap(submissions_);
    changes.swap(changes_);
  }
  const Seconds now = clock_->now();
  for (Submission& submission : submissions) {
    core_->submit(submission.row, std::move(submission.request), now);
  }
  for (const Report& report : reports) hear(report, now);
  if (settings_.gpus && now >= look_at_gpus_ && !core_->engine().jobs().running().empty()) {
    look_at_gpus_ = now + 1;
    core_->see_gpus(settings_.gpus(), now);
  }
  std::vector<Status> answers;
  answers.reserve(changes.size());
  for (const ChangeRequest& change : changes) answers.push_back(change.work(*core_));
  core_->step(now);
  note_frozen();
  act(core_->take(now));
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (changes[i].told) changes[i].told(answers[i]);
  }
}

void Daemon::act(const CoreEffects& effects) {
  for (const std::string& line : effects.log) say(line);
  if (!effects.empty() && !commit(effects.batch)) return;
  board_.put(effects.batch);
  for (const auto& [job, news] : effects.news) board_.put_news(job, news);
  for (const auto& [job, request] : effects.requests) board_.put_request(job, request);
  for (const LaunchCall& one : effects.calls) call(one);
  for (const auto& [run, seconds] : effects.leases) executor_->lease(run, seconds);
  for (const RunId run : effects.acknowledged) executor_->acknowledge(run);
  for (const JobOver& one : effects.over) executor_->over(one.job, one.origin, one.taken_back);
}

void Daemon::hear(const Report& report, Seconds now) {
  const auto* job = std::get_if<JobReport>(&report);
  if (job == nullptr || job->origin.empty()) return core_->hear(report, now);
  // A job that the executor found has its origin for a request id: it is taken in once.
  const std::optional<JobId> known = board_.by_request(job->owner, job->origin);
  const std::optional<BoardJob> row = known ? board_.job(*known) : std::nullopt;
  if (row && over(*row->row)) {
    // It may not have received that before it, or we, ended.
    return executor_->over(*known, job->origin, row->row->state == "cancelled");
  }
  if (row) {
    JobReport named = *job;
    named.job = *known;
    return core_->hear(named, now);
  }
  if (job->kind != JobReport::Kind::kFound) return;
  Result<JobRequest> request = parse_job_request(job->description);
  if (!request) return say(fmt::format("{}: {}", job->origin, request.error().message));
  intake_->submit(std::move(*request), job->owner,
                  [this, origin = job->origin](const Intake::Answer& answer) {
                    if (!answer.error.empty()) say(fmt::format("{}: {}", origin, answer.error));
                  });
}

bool Daemon::commit(const Batch& batch) {
  while (true) {
    const Status done = committer_->commit(batch);
    if (done) {
      if (!trouble_.empty()) say("the store takes commits again");
      const std::lock_guard lock(status_mutex_);
      trouble_.clear();
      return true;
    }
    // Nothing is done that is not durable: wait, with everything as it is, until there is space.
    if (trouble_.empty()) {
      say(done.error().message + "; nothing is decided until it works again");
      // No job may lose its GPUs only because no decision to keep them can be made.
      for (const RunId run : core_ ? core_->launches() : std::vector<RunId>()) {
        executor_->lease(run, kNever);
      }
    }
    {
      const std::lock_guard lock(status_mutex_);
      trouble_ = done.error().message;
    }
    // A request to end need not wait for a clean-up.
    if (const Wanted asked = asked_ ? asked_() : Wanted::kGoOn; asked != Wanted::kGoOn) {
      wanted_ = asked;
    }
    if (wanted_ == Wanted::kLeave || wanted_ == Wanted::kDrain) {
      const std::lock_guard lock(status_mutex_);
      trouble_ = "ended";
      return false;
    }
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

void Daemon::call(const LaunchCall& call) {
  switch (call.command) {
    case RunCommand::kPrepare:
      return executor_->prepare(core_->order(call.run, generation_));
    case RunCommand::kGo:
      return executor_->go(call.run);
    case RunCommand::kStop:
      if (call.next.launch != 0) {
        return executor_->shrink(call.run, call.grace, core_->order(call.next, generation_));
      }
      return executor_->stop(call.run, call.grace);
    case RunCommand::kKill:
      return executor_->stop(call.run, Grace{0});
    case RunCommand::kNone:
      return;
  }
}

void Daemon::note_frozen() {
  if (core_->frozen().empty() && frozen_.empty()) return;
  const std::lock_guard lock(status_mutex_);
  frozen_ = core_->frozen();
}

std::string Daemon::frozen() const {
  const std::lock_guard lock(status_mutex_);
  if (frozen_.empty()) return {};
  return fmt::format(
      "nothing is decided any more, running jobs continue: {}; a reload or a restart continues "
      "from what was committed",
      frozen_);
}

std::string Daemon::status_json() const {
  const Board::Counts counts = board_.counts();
  nlohmann::ordered_json json = {{"version", MUSTER_VERSION},
                                 {"process", getpid()},
                                 {"state", store_->directory().path().string()},
                                 {"generation", generation_},
                                 {"executor", settings_.executor_name},
                                 {"started", began_},
                                 {"gpus", counts.gpus},
                                 {"gpus_in_use", counts.gpus_in_use},
                                 {"jobs", counts.jobs}};
  const std::string stopped = frozen();
  const std::lock_guard lock(status_mutex_);
  json["policy"] = label_;
  json["partitions"] = partitions_;
  json["gpu_types"] = gpu_types_;
  json["safe_mode"] = safe_;
  json["trouble"] = trouble_.empty() ? stopped : trouble_;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace muster
