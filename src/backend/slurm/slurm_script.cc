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

constexpr std::string_view kLaunch = R"(mark=$(squeue --noheader --jobs="$SLURM_JOB_ID" --format=%k)
IFS=/ read -r word instance origin MUSTER_JOB MUSTER_LAUNCH requeues WORLD_SIZE <<END
$mark
END
case "$WORLD_SIZE" in
  '' | *[!0-9]*) echo "the comment of this job is not Muster's: $mark" >&2; exit 1 ;;
esac
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
MASTER_PORT=$((20000 + (SLURM_JOB_ID * 31 + ${SLURM_RESTART_COUNT:-0}) % 12000))
export MUSTER_JOB MUSTER_LAUNCH WORLD_SIZE MASTER_ADDR MASTER_PORT CUDA_DEVICE_ORDER=PCI_BUS_ID
unset SLURM_EXPORT_ENV SLURM_GET_USER_ENV  # steps get the environment of this script
)";

// srun starts one of these for each rank. It is given the command.
constexpr std::string_view kRank =
    R"(exec srun $each --ntasks="$WORLD_SIZE" --nodes="$SLURM_JOB_NUM_NODES" --kill-on-bad-exit=1 \
  --cpus-per-task=$((SLURM_CPUS_ON_NODE * SLURM_JOB_NUM_NODES / WORLD_SIZE)) \
  --output="$logs%t.log" --open-mode=append \
  /bin/sh -c 'export RANK="$SLURM_PROCID" LOCAL_RANK="$SLURM_LOCALID"; exec "$@"' rank)";

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

std::string batch_script(const RunOrder& order, const std::filesystem::path& logs) {
  std::string script = "#!/bin/sh\n";
  std::string command;
  for (const std::string& word : order.command) command += " " + shell_word(word);
  for (const auto& [name, value] : order.environment) {
    // Others cannot be set by a shell, nor read by one.
    if (exportable(name)) script += fmt::format("export {}={}\n", name, shell_word(value));
  }
  script += kLaunch;
  script += fmt::format("cd -- {} || exit 126\n", shell_word(order.working_directory));
  script += fmt::format("logs={}/\"$MUSTER_JOB.$MUSTER_LAUNCH\"\n", shell_word(logs.string()));
  script += "if [ -d \"$logs\" ]; then logs=$logs/rank-; else logs=slurm-$SLURM_JOB_ID-; fi\n";
  if (order.process_per_gpu) {
    return script + "each=--gpus-per-task=1\n" + std::string(kRank) + command + "\n";
  }
  // One process on one node needs no step: it becomes the script, and gets its signals.
  script += "if [ \"$SLURM_JOB_NUM_NODES\" -gt 1 ]; then\neach=--ntasks-per-node=1\n" +
            std::string(kRank) + command + "\nfi\n";
  script += "export RANK=0 LOCAL_RANK=0\n";
  return script + "exec" + command + " >>\"${logs}0.log\" 2>&1\n";
}

}  // namespace muster
