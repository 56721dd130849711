#include "cli/live/slurm_serve.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "backend/slurm/slurm_executor.h"
#include "backend/slurm/slurm_shadow.h"

namespace muster {

void add_slurm_options(CLI::App& command, SlurmServe& options) {
  command
      .add_option("--partition", options.partitions,
                  "with --executor slurm: the partitions to schedule; nothing else is touched")
      ->type_name("NAME")
      ->delimiter(',')
      ->allow_extra_args(false);
}

Status use_slurm(const SlurmServe& options, bool shadow, ServePlan& plan,
                 DaemonSettings& settings) {
  std::vector<std::string> notes;
  auto found = find_slurm(options.partitions, notes);
  if (!found) return found.error();
  for (const std::string& note : notes) settings.log(note);
  plan.cluster = found->cluster.toml();
  settings.core.default_partition = options.partitions.front();
  const auto access = std::make_shared<SlurmAccess>(std::move(*found));
  if (shadow) {
    settings.make_executor = [access, log = settings.log](const std::filesystem::path&,
                                                          std::uint64_t, Mailbox& mailbox) {
      return Result<std::unique_ptr<Executor>>(
          std::make_unique<SlurmShadow>(std::move(*access), mailbox, log));
    };
    return Done{};
  }
  settings.make_executor = [access, log = settings.log](
                               const std::filesystem::path& state, std::uint64_t,
                               Mailbox& mailbox) -> Result<std::unique_ptr<Executor>> {
    auto made = SlurmExecutor::make(std::move(*access), state, mailbox, log);
    if (!made) return made.error();
    return std::unique_ptr<Executor>(std::move(*made));
  };
  return Done{};
}

}  // namespace muster
