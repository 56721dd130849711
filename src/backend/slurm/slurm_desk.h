// What the executor knows and does, without threads and processes: orders and time go in, words to
// Slurm and reports come out. look() asks Slurm how things are; whatever is to be done follows from
// that answer, so a word that was lost, a controller that crashed and a person who acted by hand
// are all met the same way. Tests drive it with a Slurm in memory and a clock of their own.
//
// The life of a launch here: held and placed (ready), released (starting), running, then told to
// save its work and requeued with a hold, or over. The job of Slurm stays the same over all
// launches of a job. Its comment says whose it is and which launch it was placed for (mark.h).
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backend/live/executor.h"
#include "backend/slurm/constraints.h"
#include "backend/slurm/mark.h"
#include "backend/slurm/rank_words.h"
#include "backend/slurm/slurm_cluster.h"
#include "backend/slurm/slurm_control.h"

namespace muster {

struct SlurmSettings {
  std::string instance;                 // of the state folder, in every mark
  std::vector<std::string> partitions;  // all that is ever touched
  std::filesystem::path runs;           // folders of launches, for what jobs write
  std::filesystem::path ended;
  std::string signal = "USR1";  // tells jobs that were found to save their work
  std::uint32_t user_id = 0;    // ours: comments of other users are not trusted
  std::function<void(const std::string&)> say;
  std::function<std::string()> nonce;  // a new word each time
};

class SlurmDesk {
 public:
  SlurmDesk(SlurmSettings settings, SlurmCluster cluster, SlurmControl& control,
            std::function<void(Report)> tell);

  void prepare(const RunOrder& order);
  void go(RunId run, double now);
  void stop(RunId run, Grace grace, double now);
  void shrink(RunId run, Grace grace, const RunOrder& next, double now);
  void census(std::uint64_t number);
  void acknowledge(RunId run);
  void over(JobId job, const std::string& origin, bool taken_back);

  // Times are seconds since 1970, by the clock of this machine.
  void look(double now);
  // When to look again.
  double due() const { return due_; }
  const SlurmCluster& cluster() const { return cluster_; }

 private:
  enum class Phase : std::uint8_t { kPlacing, kReady, kReleasing, kStarting, kRunning, kStopping };
  struct Kept {
    RunId run;
    RunOrder order;              // without a command where the run was found by a census
    std::uint32_t job = 0;       // its number there; 0: it has none yet
    std::string nonce;           // of one that was found
    std::uint32_t requeues = 0;  // that it had when it was placed
    std::uint32_t ranks = 0;
    std::optional<RunOrder> next;  // it is to go on so, with fewer nodes
    bool in_place = false;         // it begins where an earlier launch of its job has left
    std::optional<RankWords> words;
    Phase phase = Phase::kPlacing;
    std::uint64_t judged = 0;  // only answers after this one say something of what was done last
    double not_before = 0;     // of its release
    double released = kNever;  // when that was
    bool seen_released = false;
    std::string says;     // why Slurm does not start it, in its words
    std::string gave_up;  // and why we do not wait for it any more
    double kill_at = 0;   // while it is stopping
    double ask_again = 0;
    int unaccounted = 0;  // so often the accounts did not answer
    double grace = 0;
    bool go = false;
    bool signalled = false;  // it is to leave: its exit says nothing of its work
    bool asked = false;      // and has been told so, perhaps by an earlier daemon
    bool started_told = false;
    bool over = false;             // the job has left: it is not kept in the queue
    std::optional<RunReport> end;  // kept until it is acknowledged

    bool own() const { return nonce.empty(); }
  };
  struct Waiting {  // a job of ours in Slurm's queue that no launch has
    std::optional<SlurmMark> mark;
    std::string owner;
    bool held_by_people = false;
    bool let_go = false;  // Slurm runs it by itself
  };

  // slurm_desk.cc: what is asked, and what Slurm answers
  bool ask_slurm(double now);
  std::optional<SlurmMark> mark_of(const SlurmJob& row) const;
  SlurmJob* row_of(const Kept& kept);
  std::filesystem::path told_file(RunId run) const;
  void note_told(RunId run) const;
  void note_asked(RunId run) const;
  void find_launches();
  void answer_census();
  void find_again(const SlurmJob& row, const SlurmMark& mark);
  void plan_next_look(double now, double took);
  void say(const std::string& line) const {
    if (settings_.say) settings_.say(line);
  }

  // slurm_launch.cc: what follows for a launch
  void advance(Kept& kept, double now);
  void put(Kept& kept, double now);
  bool refuse_to_share(Kept& kept);
  bool partner_has_whole_gpu(const Kept& kept) const;
  void submit_all(double now);
  void submit(const std::vector<Kept*>& launches, double now);
  Result<SlurmSubmission> submission_of(const Kept& kept) const;
  void place(Kept& kept, const SlurmJob* row, double now);
  Result<SlurmPlacement> placement_of(const Kept& kept, const SlurmJob* row) const;
  void release(Kept& kept, double now);
  void watch_run(Kept& kept, SlurmJob* row, double now);
  void watch_stop(Kept& kept, SlurmJob* row, double now);
  void hold(SlurmJob& row);
  void tell(const Kept& kept, RunEvent event);
  void tell_started(Kept& kept);
  void end(Kept& kept, RunEvent event, RunOutcome outcome, int code, const std::string& why);
  void start_failed(Kept& kept, const std::string& why);
  void tell_job(const Kept& kept, JobReport::Kind kind, const std::string& why);

  // slurm_start.cc: a launch that is released and does not run yet
  void watch_start(Kept& kept, SlurmJob* row, double now);
  bool held_by_its_user(const Kept& kept, const SlurmJob& row);
  void watch_pending(Kept& kept, const SlurmJob& row, double now);
  void give_up(Kept& kept, const std::string& why);
  void give_up_where_drained(Kept& kept, const SlurmJob& row, double now);

  // slurm_shrink.cc: a launch that leaves some of its nodes to the next one
  std::optional<std::vector<std::string>> nodes_to_keep(const Kept& kept,
                                                        const SlurmJob& row) const;
  void watch_shrink(Kept& kept, const SlurmJob& row, double now);
  void hand_over(Kept& kept, const SlurmJob& row, const std::vector<std::string>& nodes,
                 double now);
  bool waits_in_vain(const Kept& kept) const;
  bool stays(const SlurmJob& row) const;
  bool put_in_place(Kept& kept, const SlurmJob& row);
  bool watch_staying(const SlurmJob& row, double now);
  void find_staying(const SlurmJob& row, const SlurmMark& mark);
  std::filesystem::path folder_of(RunId run) const;
  RankWords& words_of(Kept& kept);
  void listen(Kept& kept, bool all);

  // slurm_end.cc: how it ended
  static std::string forgotten(std::uint32_t job);
  void finish(Kept& kept, const SlurmJob& row);
  bool finish_as_recorded(Kept& kept);
  bool finish_as_accounted(Kept& kept, double now);
  bool ended_by_mistake(const Kept& kept, const SlurmJob& row) const;

  // slurm_watch.cc: what follows for nodes and for jobs that no launch has
  void watch_nodes_of(const std::vector<SlurmNode>& nodes);
  void tell_nodes();
  std::map<NodeId, int> taken_by_others() const;
  std::map<NodeId, int> on_each_node(bool also_ours) const;
  void count_again(const std::vector<SlurmNode>& nodes, double now);
  int uncounted(NodeId node) const;
  const SlurmJob* in_place_of(const SlurmJob& row, const SlurmMark& mark) const;
  void watch_queue(double now);
  void watch_waiting(SlurmJob& row, const SlurmMark& mark);
  void let_go(Waiting& waiting, std::uint32_t job);
  void report_waiting(const Waiting& waiting, std::uint32_t job, JobReport::Kind kind,
                      const std::string& why, const std::string& description = {});
  void take_in(SlurmJob& row, double now);
  NodeConstraints constraints_of(const SlurmJob& row) const;
  void leave_alone(const SlurmJob& row, const NodeConstraints& constraints);
  bool say_once(const SlurmJob& row, const std::string& why);
  void drop_leavers();
  void drop_records(double now);
  bool ours(const SlurmJob& row) const;
  Kept* launch_on(std::uint32_t job);

  static constexpr double kAskAgain = 5;  // a command that was accepted and had no effect

  SlurmSettings settings_;
  SlurmCluster cluster_;
  SlurmControl& control_;
  std::function<void(Report)> tell_;
  std::map<RunId, Kept> kept_;
  std::set<RunId> refused_;                 // told to stop before they were known: never prepared
  std::map<std::uint32_t, SlurmJob> rows_;  // the last answer
  std::map<JobId, std::uint32_t> own_;      // jobs that were submitted here, by our number
  std::map<std::uint32_t, Waiting> waiting_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> requeued_;  // job, restarts: since when
  std::map<NodeId, NodeReport> states_;      // of the nodes, as Slurm says
  std::map<NodeId, NodeReport> told_nodes_;  // and as was reported
  // GPUs that Slurm counts as used and no job has, after a crash of its controller.
  struct Uncounted {
    double since = 0;
    int answers = 0;
    int gpus = 0;  // at least, in all these answers
    bool certain = false;
  };
  std::map<NodeId, Uncounted> uncounted_;
  std::map<std::uint32_t, double> staying_;  // jobs whose script waits for a launch: how long still
  std::map<NodeId, double> avoid_;           // nodes that start nothing, and until when
  std::map<NodeId, double> busy_until_;      // nodes on which Slurm did not start a job
  std::set<NodeId> no_cpus_;                 // nodes all of whose CPUs are in use
  std::set<std::uint32_t> held_by_user_;     // jobs of ours that their users hold
  std::vector<std::pair<double, JobId>> records_;  // of jobs that have left, and when they may go
  struct Leaver {
    JobId job;
    std::string origin;
    bool taken_back;
  };
  std::vector<Leaver> leavers_;
  std::set<std::uint32_t> spoken_of_;  // jobs that are left alone, and it was said why
  std::uint64_t answers_ = 0;          // how often Slurm has answered
  std::uint64_t census_ = 0;           // the one that is being answered; 0: none
  std::string trouble_;
  int failures_ = 0;
  double due_ = 0;
};

}  // namespace muster
