#include "backend/slurm/slurm_record.h"

#include <string>

#include <fmt/format.h>

#include "backend/local/run_folder.h"
#include "base/out_file.h"
#include "base/text.h"

namespace muster {
namespace {

std::filesystem::path record_file(const std::filesystem::path& runs, JobId job, const char* what) {
  return runs / fmt::format("{}.{}", index(job), what);
}

}  // namespace

std::optional<SlurmRecord> read_slurm_record(const std::filesystem::path& runs, JobId job) {
  const std::filesystem::path file = record_file(runs, job, "exit");
  std::error_code code;
  if (!std::filesystem::exists(file, code)) return std::nullopt;
  const Result<std::string> text = read_file(file.string());
  if (!text) return std::nullopt;
  const std::vector<std::string_view> words = split(trim(*text), ' ');
  if (words.size() != 2) return std::nullopt;
  const auto launch = parse_integer(words[0]);
  const auto status = parse_integer(words[1]);
  if (!launch || *launch < 0 || *launch > 0xffffffff) return std::nullopt;
  if (!status || *status < 0 || *status > 255) return std::nullopt;
  return SlurmRecord{static_cast<std::uint32_t>(*launch), static_cast<int>(*status)};
}

bool slurm_launch_began(const std::filesystem::path& runs, RunId run) {
  std::error_code code;
  return std::filesystem::exists(runs / run_folder_name(run) / "began", code);
}

void drop_slurm_record(const std::filesystem::path& runs, JobId job) {
  std::error_code code;
  for (const char* what : {"exit", "lock"}) {
    std::filesystem::remove(record_file(runs, job, what), code);
  }
}

}  // namespace muster
