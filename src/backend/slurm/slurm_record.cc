#include "backend/slurm/slurm_record.h"

#include <fstream>
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

bool slurm_script_can_stay(const std::filesystem::path& runs, RunId run) {
  const auto text = read_file((runs / run_folder_name(run) / "began").string());
  return text && trim(*text) == "can stay";
}

void make_slurm_next(const std::filesystem::path& runs, JobId job) {
  std::ofstream(record_file(runs, job, "next"), std::ios::app).flush();
}

std::uint32_t slurm_next_launch(const std::filesystem::path& runs, JobId job) {
  const Result<std::string> text = read_file(record_file(runs, job, "next").string());
  if (!text) return 0;
  const std::vector<std::string_view> lines = split(trim(*text), '\n');
  const auto launch = parse_integer(lines.back());
  return launch && *launch > 0 && *launch < 0xffffffff ? static_cast<std::uint32_t>(*launch) : 0;
}

// Appended: a network file system shows that to others at once, and a new file only after a while.
Status tell_slurm_next_launch(const std::filesystem::path& runs, RunId run) {
  std::ofstream file(record_file(runs, run.job, "next"), std::ios::app);
  file << run.launch << "\n" << std::flush;
  if (!file)
    return Error{fmt::format("cannot write {}", record_file(runs, run.job, "next").string())};
  return Done{};
}

void drop_slurm_record(const std::filesystem::path& runs, JobId job) {
  std::error_code code;
  for (const char* what : {"exit", "lock", "next"}) {
    std::filesystem::remove(record_file(runs, job, what), code);
  }
}

}  // namespace muster
