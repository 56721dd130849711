#include "backend/slurm/slurm_commands.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include <fmt/format.h>

#include "backend/slurm/accounts.h"
#include "base/text.h"

namespace muster {
namespace {

constexpr std::size_t kAtATime = 4;  // programs that submit

std::string list_of(const std::vector<std::string>& nodes) {
  std::string list;
  for (const std::string& node : nodes) list += (list.empty() ? "" : ",") + node;
  return list;
}

Error cannot(const std::string& what, const Error& why) {
  return Error{fmt::format("{}: {}", what, why.message)};
}

}  // namespace

Result<std::unique_ptr<SlurmCommands>> SlurmCommands::open(CommandLimits limits,
                                                           std::vector<std::string>& notes) {
  const auto version = output_of({"scontrol", "--version"}, limits);
  if (!version) {
    return cannot("Slurm's programs are not here; install slurm-client, or set PATH and SLURM_CONF",
                  version.error());
  }
  notes.push_back("this is " + complaint(*version));
  std::unique_ptr<SlurmCommands> opened(new SlurmCommands(limits));
  const auto by_scontrol = run_command({"scontrol", "--json", "show", "nodes"}, limits);
  opened->nodes_by_scontrol_ =
      by_scontrol && by_scontrol->status == 0 && parse_nodes(by_scontrol->out);
  if (const auto nodes = opened->nodes(); !nodes) return cannot("no list of nodes", nodes.error());
  if (const auto jobs = opened->jobs(); !jobs) return cannot("no list of jobs", jobs.error());
  const auto accounts = output_of(accounts_question(1), limits);
  opened->has_accounts_ = static_cast<bool>(accounts);
  if (!accounts) {
    notes.push_back(
        "no accounting: how a user's job ended is not known once slurmctld has forgotten it (" +
        complaint(accounts.error().message) + ")");
  }
  return opened;
}

Status SlurmCommands::control(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (ScontrolLine::plain(word)) continue;
    std::vector<std::string> all = {"scontrol"};
    all.insert(all.end(), words.begin(), words.end());
    const auto done = output_of(all, limits_);
    return done ? Status(Done{}) : Status(done.error());
  }
  return line_.tell(words);
}

Result<SlurmRows<SlurmJob>> SlurmCommands::jobs() {
  const auto text = output_of({"squeue", "--json"}, limits_);
  if (!text) return text.error();
  return parse_jobs(*text);
}

Result<SlurmRows<SlurmNode>> SlurmCommands::nodes() {
  const auto text = nodes_by_scontrol_ ? output_of({"scontrol", "--json", "show", "nodes"}, limits_)
                                       : output_of({"sinfo", "--json"}, limits_);
  if (!text) return text.error();
  return parse_nodes(*text);
}

// They are held, so it does not matter which of them reaches Slurm first.
std::vector<Result<std::uint32_t>> SlurmCommands::submit(
    const std::vector<SlurmSubmission>& submissions) {
  std::vector<Result<std::uint32_t>> numbers(submissions.size(), Error{"it was not submitted"});
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < submissions.size(); i = next++) {
      numbers[i] = submit_one(submissions[i]);
    }
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < std::min(kAtATime, submissions.size()); ++i)
    others.emplace_back(work);
  work();
  for (std::thread& one : others) one.join();
  return numbers;
}

Result<std::uint32_t> SlurmCommands::submit_one(const SlurmSubmission& submission) const {
  // With anything but ALL, Slurm logs the user in on the node (`su -`) to see what the environment
  // is like, which takes seconds, or minutes where a profile hangs. So nothing of ours is there to
  // be passed on; the script sets what the job wants.
  std::vector<std::string> words = {"env", "-i"};
  for (const char* name : {"PATH", "SLURM_CONF"}) {
    if (const char* value = std::getenv(name); value != nullptr) {
      words.push_back(fmt::format("{}={}", name, value));
    }
  }
  const std::vector<std::string> order = {"sbatch",
                                          "--parsable",
                                          "--hold",
                                          "--requeue",
                                          "--open-mode=append",
                                          "--export=ALL",
                                          "--chdir=/",
                                          "--job-name=" + submission.name,
                                          "--comment=" + submission.comment,
                                          "--partition=" + submission.partition,
                                          "--output=" + submission.output,
                                          "--gres=" + submission.gres};
  words.insert(words.end(), order.begin(), order.end());
  if (submission.memory_gb > 0) {
    words.push_back(fmt::format("--mem={:.0f}M", submission.memory_gb * 1e9 / (1 << 20)));
  }
  const auto answer = output_of(words, limits_, submission.script);
  if (!answer) return answer.error();
  const std::string_view number = trim(std::string_view(*answer).substr(0, answer->find(';')));
  const auto job = parse_integer(number);
  if (!job || *job <= 0 || *job > 0xffffffff) {
    return Error{fmt::format("sbatch answered '{}' instead of a number", complaint(*answer))};
  }
  return static_cast<std::uint32_t>(*job);
}

Status SlurmCommands::place(std::uint32_t job, const SlurmPlacement& placement) {
  const std::string nodes = list_of(placement.nodes);
  const std::size_t count = placement.nodes.size();
  // A single number would lower the minimum alone, and leave a maximum that cannot be met.
  std::vector<std::string> words = {
      "update", fmt::format("JobId={}", job), "ReqNodeList=" + nodes,
      fmt::format("NumNodes={}-{}", count, count),
      (placement.own ? "Comment=" : "AdminComment=") + placement.mark};
  if (!placement.partition.empty()) words.push_back("Partition=" + placement.partition);
  if (!placement.per_node.empty() || !placement.per_job.empty()) {
    words.push_back("TresPerNode=" + placement.per_node);
    words.push_back("TresPerJob=" + placement.per_job);
  }
  if (placement.tasks > 0) words.push_back(fmt::format("NumTasks={}", placement.tasks));
  if (placement.cpus_per_node > 0) {
    // Else the first node might give all of them.
    words.push_back(fmt::format("MinCPUsNode={}", placement.cpus_per_node));
    words.push_back(fmt::format("NumCPUs={}", placement.cpus_per_node * static_cast<int>(count)));
  }
  if (placement.requeued) words.emplace_back("StartTime=now");
  return control(words);
}

Status SlurmCommands::mark(std::uint32_t job, const std::string& text) {
  return control({"update", fmt::format("JobId={}", job), "AdminComment=" + text});
}

Status SlurmCommands::shrink(std::uint32_t job, const std::vector<std::string>& nodes,
                             const std::string& mark) {
  return control(
      {"update", fmt::format("JobId={}", job), "NodeList=" + list_of(nodes), "Comment=" + mark});
}

Status SlurmCommands::release(std::uint32_t job) {
  return control({"release", std::to_string(job)});
}

Status SlurmCommands::hold(std::uint32_t job) { return control({"uhold", std::to_string(job)}); }

Status SlurmCommands::requeue_and_hold(std::uint32_t job) {
  return control({"requeuehold", std::to_string(job)});
}

Status SlurmCommands::signal(std::uint32_t job, const std::string& name) {
  // A signal to the script alone would end one that does not expect it, and its steps with it.
  const auto steps = output_of(
      {"squeue", "--steps", "--noheader", "--format=%i", fmt::format("--jobs={}", job)}, limits_);
  if (!steps) return steps.error();
  bool any = false;
  for (const std::string_view step : split(*steps, '\n')) {
    const std::size_t dot = step.find('.');
    any = any || (dot != std::string_view::npos && parse_integer(trim(step.substr(dot + 1))));
  }
  std::vector<std::string> words = {"scancel", "--signal=" + name, std::to_string(job)};
  if (!any) words.insert(words.begin() + 1, "--batch");
  const auto done = output_of(words, limits_);
  return done ? Status(Done{}) : Status(done.error());
}

Status SlurmCommands::cancel(std::uint32_t job) {
  const auto done = output_of({"scancel", std::to_string(job)}, limits_);
  return done ? Status(Done{}) : Status(done.error());
}

Result<double> SlurmCommands::up_since() {
  const auto text =
      output_of({"env", "SLURM_TIME_FORMAT=%s", "scontrol", "show", "config"}, limits_);
  if (!text) return text.error();
  for (const std::string_view line : split(*text, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || trim(line.substr(0, equals)) != "BOOT_TIME") continue;
    if (const auto time = parse_integer(trim(line.substr(equals + 1)))) {
      return static_cast<double>(*time);
    }
  }
  return Error{"scontrol show config does not say when slurmctld began"};
}

Result<std::vector<SlurmJob>> SlurmCommands::accounts(std::uint32_t job) {
  if (!has_accounts_) return std::vector<SlurmJob>{};
  const auto text = output_of(accounts_question(job), limits_);
  if (!text) return text.error();
  return parse_accounts(*text);
}

}  // namespace muster
