#include "backend/slurm/slurm_executor.h"

#include <algorithm>
#include <cerrno>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "backend/slurm/command.h"
#include "backend/slurm/slurm_commands.h"
#include "base/out_file.h"
#include "base/text.h"

namespace muster {
namespace {

std::string random_word() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

// The name of this state folder in all marks: made once, and kept.
Result<std::string> instance_of(const std::filesystem::path& state) {
  const std::filesystem::path file = state / "slurm.instance";
  if (access(file.c_str(), F_OK) != 0) {
    if (Status made = write_file(file.string(), random_word() + "\n"); !made) return made.error();
  }
  const Result<std::string> text = read_file(file.string());
  if (!text) return text.error();
  std::string name(trim(*text));
  // As a mark must be able to carry it.
  if (!parse_mark(mark_text({name, {}, {JobId{1}, 1}, 0, 0}))) {
    return Error{
        fmt::format("{}: '{}' is not a name of an instance; remove the file only if no job of "
                    "this daemon is left in Slurm",
                    file.string(), complaint(name))};
  }
  return name;
}

}  // namespace

Result<SlurmAccess> find_slurm(const std::vector<std::string>& partitions,
                               std::vector<std::string>& notes) {
  if (partitions.empty()) {
    return Error{"say which partitions are to be scheduled: --partition NAME[,NAME]"};
  }
  for (const std::string& name : partitions) {
    if (!ScontrolLine::plain(name)) return Error{fmt::format("'{}' is not a partition", name)};
  }
  auto commands = SlurmCommands::open({}, notes);
  if (!commands) return commands.error();
  const auto nodes = (*commands)->nodes();
  if (!nodes) return nodes.error();
  auto cluster = SlurmCluster::find(nodes->rows, partitions, notes);
  if (!cluster) return cluster.error();
  int shards = 0;
  for (const SlurmHost& host : cluster->hosts()) shards = std::max(shards, host.shards);
  if (shards < 2) {
    notes.emplace_back("no node offers shards (Gres=shard:N): jobs cannot share a GPU");
  }
  return SlurmAccess{std::move(*commands), std::move(*cluster), partitions};
}

Result<std::unique_ptr<SlurmExecutor>> SlurmExecutor::make(
    SlurmAccess access, const std::filesystem::path& state, Mailbox& mailbox,
    std::function<void(const std::string&)> say) {
  SlurmSettings settings;
  Result<std::string> instance = instance_of(state);
  if (!instance) return instance.error();
  settings.instance = std::move(*instance);
  settings.partitions = access.partitions;
  settings.runs = state / "runs";
  settings.ended = state / "ended";
  settings.user_id = geteuid();
  settings.say = std::move(say);
  settings.nonce = random_word;
  for (const std::filesystem::path& folder : {settings.runs, settings.ended}) {
    if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
      return file_error("make", folder.string(), errno);
    }
  }
  std::unique_ptr<SlurmExecutor> executor(
      new SlurmExecutor(std::move(access), std::move(settings), mailbox));
  executor->desk_.look(wall_clock());
  executor->thread_.begin(
      [&desk = executor->desk_] { return std::clamp(desk.due() - wall_clock(), 0.0, 60.0); },
      [&desk = executor->desk_](bool) {
        if (wall_clock() >= desk.due()) desk.look(wall_clock());
      });
  return executor;
}

SlurmExecutor::SlurmExecutor(SlurmAccess access, SlurmSettings settings, Mailbox& mailbox)
    : control_(std::move(access.control)),
      desk_(std::move(settings), std::move(access.cluster), *control_,
            [&mailbox](Report report) { mailbox.post(std::move(report)); }) {}

Abilities SlurmExecutor::abilities() const {
  Abilities abilities;
  abilities.chooses_gpus = true;
  abilities.colocates = false;
  for (const SlurmHost& host : desk_.cluster().hosts()) {
    abilities.colocates = abilities.colocates || host.shards > 1;
  }
  return abilities;
}

void SlurmExecutor::prepare(const RunOrder& order) {
  thread_.later([this, order] { desk_.prepare(order); });
}
void SlurmExecutor::go(RunId run) {
  thread_.later([this, run] { desk_.go(run, wall_clock()); });
}
void SlurmExecutor::stop(RunId run, Grace grace) {
  thread_.later([this, run, grace] { desk_.stop(run, grace, wall_clock()); });
}
void SlurmExecutor::shrink(RunId run, Grace grace, const RunOrder& next) {
  thread_.later([this, run, grace, next] { desk_.shrink(run, grace, next, wall_clock()); });
}
void SlurmExecutor::census(std::uint64_t number) {
  thread_.later([this, number] { desk_.census(number); });
}
void SlurmExecutor::acknowledge(RunId run) {
  thread_.later([this, run] { desk_.acknowledge(run); });
}
void SlurmExecutor::over(JobId job, const std::string& origin, bool taken_back) {
  thread_.later([this, job, origin, taken_back] { desk_.over(job, origin, taken_back); });
}

}  // namespace muster
