// Feeds any bytes to every trace reader. The first byte chooses the format: one byte per row of the
// table in its order, then detection; its high bits choose options. What is read must be in order
// and sensible, and what the doctor repaired must be healthy.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "workload/byte_input.h"
#include "workload/doctor.h"
#include "workload/job_check.h"
#include "workload/trace_format.h"
#include "workload/trace_reader.h"

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

using muster::JobSpec;

void read_ordered(const std::string& text, const muster::TraceOptions& options) {
  muster::Symbols symbols;
  auto input = muster::unpacked(muster::bytes_of(text));
  if (!input) return;
  auto reader = muster::TraceReader::read(std::move(*input), "input", options, symbols);
  if (!reader) {
    require(!reader.error().message.empty(), "an error says something");
    return;
  }
  double last = 0;
  std::uint64_t jobs = 0;
  while (const JobSpec* job = (*reader)->peek()) {
    require((muster::find_faults(*job) & muster::fatal_faults()) == 0, "a reader refuses nonsense");
    require(job->submit >= last && job->arrival == job->submit, "jobs come in order");
    last = job->submit;
    ++jobs;
    (*reader)->pop();
  }
  require((*reader)->stats().jobs == jobs, "jobs are counted");
}

void doctor(const std::string& text, muster::TraceOptions options) {
  muster::Symbols symbols;
  options.skip_bad = true;
  options.any_order = true;
  options.unchecked = true;
  auto reader = muster::TraceReader::read(muster::bytes_of(text), "input", options, symbols);
  if (!reader) return;
  muster::RawTrace trace;
  while ((*reader)->peek() != nullptr) {
    trace.lines.push_back((*reader)->line());
    trace.jobs.push_back((*reader)->take());
  }
  const muster::ClusterSpec cluster = muster::uniform_cluster(4, 8);
  muster::DoctorOptions doctor_options;
  doctor_options.cluster = &cluster;
  doctor_options.symbols = &symbols;
  muster::examine(trace, doctor_options);
  muster::repair(trace, doctor_options);
  require(muster::examine(trace, doctor_options).findings.empty(),
          "a repair leaves nothing to find");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto formats = muster::trace_formats();
  const std::size_t choice = data[0] & 0x1f;
  muster::TraceOptions options;
  if (choice < formats.size()) options.format = formats[choice].name;
  if (options.format == "sacct" && (data[0] & 0x80) != 0) options.settings["unfinished"] = "keep";
  options.skip_bad = (data[0] & 0x20) != 0;
  options.rebase = (data[0] & 0x40) != 0 ? muster::Rebase::kYes : muster::Rebase::kAuto;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  read_ordered(text, options);
  doctor(text, options);
  return 0;
}
