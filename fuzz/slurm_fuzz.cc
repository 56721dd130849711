// What Slurm's programs print: nothing crashes, bounds hold, and marks are read back as written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "backend/slurm/found_job.h"
#include "backend/slurm/hostlist.h"
#include "backend/slurm/mark.h"
#include "backend/slurm/slurm_cluster.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto jobs = muster::parse_jobs(text)) {
    for (const muster::SlurmJob& job : jobs->rows) {
      if (muster::gpus_wanted(job) < 0) std::abort();
      if (!muster::unfit_to_schedule(job).empty()) continue;
      if (muster::found_description(job, {}, "slurm:1@a").empty()) std::abort();
    }
  }
  if (const auto nodes = muster::parse_nodes(text)) {
    std::vector<std::string> notes;
    const auto cluster = muster::SlurmCluster::find(nodes->rows, {"all"}, notes);
    if (cluster && cluster->toml().empty()) std::abort();
  }
  if (const auto hosts = muster::expand_hostlist(text); hosts && hosts->size() > 100'000) {
    std::abort();
  }
  for (const muster::Gres& gres : muster::parse_gres(text)) {
    if (gres.count < 0) std::abort();
  }
  if (const auto mark = muster::parse_mark(text); mark && muster::mark_text(*mark) != text) {
    std::abort();
  }
  if (const auto origin = muster::parse_origin(text);
      origin && muster::origin_text(*origin) != text) {
    std::abort();
  }
  return 0;
}
