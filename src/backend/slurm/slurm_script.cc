#include "backend/slurm/slurm_script.h"

#include <algorithm>

#include <fmt/format.h>

namespace muster {
namespace {

// A name that a shell can export.
bool exportable(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9');
  });
}

// Waits for an earlier start of the job that goes on without Slurm's knowledge, and asks whether it
// has finished meanwhile.
constexpr std::string_view kOnce =
    R"(status=
if [ -d "$runs" ] && [ -w "$runs" ] && flock --version >/dev/null 2>&1; then
  exec 9>>"$runs/$MUSTER_JOB.lock"
  flock 9
  [ -r "$runs/$MUSTER_JOB.exit" ] && read -r launch status <"$runs/$MUSTER_JOB.exit"
  [ "${status:-1}" = 0 ] && exit 0
fi
)";

// A controller that is down is waited for. One that says that this job does not run has forgotten
// its start: then it is about to end it. Its number may even be that of another job by now.
constexpr std::string_view kLaunch = R"(again=
while :; do
tries=0
while :; do
  said=$(squeue --noheader --states=all --jobs="$SLURM_JOB_ID" --format='%T %k' 2>/dev/null)
  case "$said" in
    "RUNNING $mark"*) break ;;
    RUNNING*) tries=$((tries + 1)) ;;
  esac
  [ "$tries" -lt 60 ] || { echo "the comment of this job is not Muster's: $said" >&2; exit 1; }
  sleep 1
done
IFS=/ read -r MUSTER_LAUNCH requeues WORLD_SIZE <<END
${said#RUNNING "$mark"}
END
if [ -n "$again" ]; then  # with fewer nodes than the environment says
  SLURM_JOB_NODELIST=$(squeue --noheader --jobs="$SLURM_JOB_ID" --format=%N)
  SLURM_JOB_NUM_NODES=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | wc -l)
  SLURM_NODELIST=$SLURM_JOB_NODELIST SLURM_NNODES=$SLURM_JOB_NUM_NODES
  unset SLURM_NTASKS SLURM_NPROCS SLURM_TASKS_PER_NODE SLURM_JOB_CPUS_PER_NODE
fi
MASTER_ADDR=$SLURM_JOB_NODELIST  # of one node
[ "$SLURM_JOB_NUM_NODES" = 1 ] || MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
MASTER_PORT=$((20000 + (SLURM_JOB_ID * 31 + MUSTER_LAUNCH * 7 + ${SLURM_RESTART_COUNT:-0}) % 12000))
export MUSTER_JOB MUSTER_LAUNCH WORLD_SIZE MASTER_ADDR MASTER_PORT CUDA_DEVICE_ORDER=PCI_BUS_ID
unset SLURM_EXPORT_ENV SLURM_GET_USER_ENV  # steps get the environment of this script
each=
folder=$runs/$MUSTER_JOB.$MUSTER_LAUNCH
export MUSTER_LAUNCH_FOLDER="$folder"
logs=slurm-$SLURM_JOB_ID-
if [ -d "$folder" ]; then
  logs=$folder/rank-
  echo can stay >"$folder/began"
fi
)";

// Puts `flock`s before the command in "$@", one for each GPU in $gpus. No single quotes: it is also
// a part of such a text.
constexpr std::string_view kGpuLocks = R"(locks=/dev/shm/muster-$MUSTER_INSTANCE
mkdir -m 700 "$locks" 2>/dev/null
if [ -O "$locks" ] && [ ! -L "$locks" ] && flock -F "$locks/try" true 2>/dev/null; then
  for gpu in $(echo "$gpus" | tr , " "); do
    set -- flock ${SLURM_SHARDS_ON_NODE:+-s} -F "$locks/$SLURMD_NODENAME.$gpu" "$@"
  done
fi
)";

// srun starts one of these for each rank. It is given the command.
constexpr std::string_view kRank =
    R"(set -- srun $each --ntasks="$WORLD_SIZE" --nodes="$SLURM_JOB_NUM_NODES" --kill-on-bad-exit=1 \
  --cpus-per-task=$((SLURM_CPUS_ON_NODE * SLURM_JOB_NUM_NODES / WORLD_SIZE)) \
  --output="$logs%t.log" --open-mode=append /bin/sh -c "$rank" rank "$@"
)";

// The end of the loop that kLaunch begins: a launch for each turn. The shell stays, to note how the
// command ended. It hands on the signals that it gets; where Slurm
// itself ends the job, the command gets them anyway.
constexpr std::string_view kRun = R"([ -d "$folder" ] || exec "$@"
told=
child=
trap 'told=yes; [ ! -e "$folder/told-to-stop" ] || kill -TERM $child' TERM
for signal in HUP INT USR1 USR2; do trap "kill -$signal \$child" $signal; done
# What a shell starts beside itself would not hear these.
env --default-signal=INT,QUIT true 2>/dev/null && set -- env --default-signal=INT,QUIT "$@"
tries=0
while :; do
  "$@" &
  child=$!
  [ -z "$told" ] || kill -TERM $child
  while :; do
    wait $child
    status=$?
    kill -0 $child 2>/dev/null && continue
    # A signal may have ended the wait in the moment in which the child ended: then its status is
    # still to be had.
    [ $status -gt 128 ] || break
    wait $child
    ended=$?
    [ $ended = 127 ] || status=$ended
    break
  done
  # An srun that has started no rank: a node is gone, for a moment or until Slurm notices it.
  [ -n "$each" ] && [ $status -ne 0 ] && [ -z "$told" ] && [ ! -e "$folder/ranks" ] && [ $tries -lt 12 ] || break
  tries=$((tries + 1))
  sleep 5
done
if [ -e "$folder/stay" ]; then
  # The next launch is to have some of the nodes: it is waited for instead of being queued again.
  trap 'exit 75' TERM
  echo $status >"$folder/left.new" && mv "$folder/left.new" "$folder/left"
  for tries in $(seq 120); do
    next=$(tail -n 1 "$runs/$MUSTER_JOB.next" 2>/dev/null)
    [ "${next:-0}" -le "$MUSTER_LAUNCH" ] || break
    sleep 0.5
  done
  [ "${next:-0}" -gt "$MUSTER_LAUNCH" ] || exit 75
  again=yes
  continue
fi
if [ -z "$told" ] && [ ! -e "$folder/told-to-stop" ] && [ $status -lt 128 ]; then
  { echo "$MUSTER_LAUNCH $status" >"$runs/$MUSTER_JOB.new" && mv "$runs/$MUSTER_JOB.new" "$runs/$MUSTER_JOB.exit"; } ||
    rm -f "$folder/began"
fi
exit $status
done
)";

}  // namespace

std::string shell_word(std::string_view text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

std::string batch_script(const RunOrder& order, const std::filesystem::path& runs,
                         const std::string& mark) {
  std::string script = "#!/bin/sh\n";
  for (const auto& [name, value] : order.environment) {
    // Others cannot be set by a shell, nor read by one.
    if (exportable(name)) script += fmt::format("export {}={}\n", name, shell_word(value));
  }
  script += fmt::format("runs={}\nmark={}\nMUSTER_JOB={}\n", shell_word(runs.string()),
                        shell_word(mark), index(order.run.job));
  script += kOnce;
  script += kLaunch;
  script += fmt::format("cd -- {} || exit 126\n", shell_word(order.working_directory));
  script +=
      "MUSTER_INSTANCE=${mark#muster/}\nexport MUSTER_INSTANCE=${MUSTER_INSTANCE%%/*}\nset --";
  for (const std::string& word : order.command) script += " " + shell_word(word);
  // Each rank waits for its own GPU, or for all of its node.
  const std::string_view gpus =
      order.process_per_gpu
          ? R"(gpus=$(echo "$SLURM_STEP_GPUS" | cut -d , -f $((SLURM_LOCALID + 1))))"
          : "gpus=$SLURM_STEP_GPUS";
  script += fmt::format(
      "\nrank='touch \"$MUSTER_LAUNCH_FOLDER/ranks\" 2>/dev/null\nexport RANK=\"$SLURM_PROCID\" "
      "LOCAL_RANK=\"$SLURM_LOCALID\"\n{}\n{}"
      "exec \"$@\"'\n",
      gpus, kGpuLocks);
  if (order.process_per_gpu) {
    return script + "each=--gpus-per-task=1\n" + std::string(kRank) + std::string(kRun);
  }
  // One process on one node needs no step.
  script += "if [ \"$SLURM_JOB_NUM_NODES\" -gt 1 ]; then\neach=--ntasks-per-node=1\n" +
            std::string(kRank) + "else\nexport RANK=0 LOCAL_RANK=0\ngpus=$SLURM_JOB_GPUS\n";
  script += kGpuLocks;
  script += "exec >>\"${logs}0.log\" 2>&1\nfi\n";
  return script + std::string(kRun);
}

}  // namespace muster
