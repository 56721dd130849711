// The live service: threads, disk and sockets around the core.
//
//   HTTP thread        parses and answers; reads from the board, enqueues everything else
//   committer's thread makes batches durable, many at once
//   executor's thread  talks to keepers
//   engine's thread    the caller of run(): owns the core; commits its decisions, then acts
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backend/live/mailbox.h"
#include "daemon/api/api.h"
#include "daemon/clock.h"
#include "daemon/core.h"
#include "daemon/questions.h"
#include "daemon/sqlite_store.h"

namespace muster {

struct DaemonSettings {
  std::filesystem::path state;
  // Reads the description again; `safe`: with the plainest policy instead of the chosen one.
  std::function<Result<LivePlan>(bool safe)> make_plan;
  // Carries launches out; given the state folder and the generation of this daemon.
  std::function<Result<std::unique_ptr<Executor>>(const std::filesystem::path& state,
                                                  std::uint64_t generation, Mailbox& mailbox)>
      make_executor;
  std::function<std::vector<GpuUse>()> gpus;  // what those of this machine are doing; or none
  std::string executor_name;
  std::string recording;  // a file that everything is recorded to; empty: nothing is
  CoreSettings core;
  IntakeLimits intake;
  double requests_per_second = 5'000;  // of one user, over a few seconds
  HttpLimits http;
  bool for_all = false;  // every user of the machine may connect
  std::string listen;    // HOST:PORT for callers from the network; empty: none
  std::filesystem::path certificate, key;
  std::set<std::string> operators;  // beside our own user and root
  // A daemon that died so often right after its start meets something that kills it: it goes on
  // with the plainest policy. 0: never.
  std::int64_t most_deaths = 3;
  std::function<void(const std::string&)> log;
};

// Where the API is found in a state folder.
std::filesystem::path api_socket(const std::filesystem::path& state);

class Daemon {
 public:
  // Takes the folder, continues with what it holds, and answers requests from here on.
  static Result<std::unique_ptr<Daemon>> start(DaemonSettings settings);
  ~Daemon();

  enum class Wanted : std::uint8_t { kGoOn, kReload, kLeave, kDrain };
  // Until told to end. `wanted` is asked at least twice a second.
  void run(const std::function<Wanted()>& wanted);

  const LivePlan& plan() const { return core_->plan(); }
  std::uint64_t generation() const { return generation_; }
  // Where callers from the network get in; empty: nowhere.
  std::string network_address() const { return network_ ? network_->address() : ""; }

 private:
  explicit Daemon(DaemonSettings settings)
      : settings_(std::move(settings)), rate_(settings_.requests_per_second) {}
  Status open();
  // `again`: a person wants it tried, whatever happened before.
  Status open_core(const StoredWorld& world, bool again = false);
  void read_board(const StoredWorld& world);
  Status open_api(const StoredWorld& world);
  Status open_doors();
  void serve();
  void turn();
  void act(const CoreEffects& effects);
  bool commit(const Batch& batch);
  void call(const LaunchCall& call);
  void hear(const Report& report, Seconds now);
  void ask_for_census();
  Status reload();
  // Where it is wanted.
  void reload_if(bool wanted);
  void ask(ChangeRequest change);
  std::string status_json() const;
  // Why nothing is decided any more, as of the last turn, for any thread; empty: all is well.
  std::string frozen() const;
  void note_frozen();
  void forget_deaths();
  void say(const std::string& line) const {
    if (settings_.log) settings_.log(line);
  }

  struct Submission {
    StoredJob row;
    std::shared_ptr<const JobRequest> request;
  };

  DaemonSettings settings_;
  std::unique_ptr<SqliteStore> store_;
  std::uint64_t generation_ = 0;
  std::unique_ptr<LiveClock> clock_;
  Mailbox mailbox_;
  Board board_;
  std::unique_ptr<HttpServer> server_;   // both outlive all who may still answer
  std::unique_ptr<HttpServer> network_;  // null: no callers from the network
  std::unique_ptr<Committer> committer_;
  std::unique_ptr<Intake> intake_;
  std::unique_ptr<Questions> questions_;
  std::unique_ptr<Tokens> tokens_;
  RateLimit rate_;
  std::unique_ptr<Api> api_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<CoreRecorder> recorder_;
  std::unique_ptr<Core> core_;

  std::mutex mutex_;
  std::vector<Submission> submissions_;
  std::vector<ChangeRequest> changes_;
  std::vector<std::function<void(const Status&)>> reloads_;  // called with the result
  std::string trouble_;  // why nothing can be committed; empty: all is well
  std::string frozen_;   // the core's, where all may read it
  std::string label_;
  std::vector<std::string> partitions_, gpu_types_;  // what a job may ask for by name
  mutable std::mutex status_mutex_;
  std::atomic<Wanted> wanted_{Wanted::kGoOn};
  std::function<Wanted()> asked_;  // that of run()
  std::uint64_t censuses_ = 0;
  Seconds look_at_gpus_ = 0;  // when they are looked at next
  double began_ = 0;
  double tried_ = 0;  // since when the policies that there are now decide
  bool safe_ = false;
  bool healthy_ = false;  // they have decided long enough to be no part of a crash loop
  bool ended_ = false;
};

}  // namespace muster
