#include "workload/generate/blox_log.h"

#include "base/symbols.h"
#include "workload/byte_input.h"
#include "workload/trace_reader.h"

namespace muster {
namespace {

TraceOptions blox_reading(bool multi_gpu) {
  TraceOptions options;
  options.format = "philly-json";
  options.settings = {{"last_ran", "true"},
                      {"longer_than", "1897.3665961010276"},  // 60 * 10^1.5
                      {"shorter_than", "600000"},
                      {"attempt_gpus", multi_gpu ? "16" : "0"}};
  options.any_order = true;  // only lengths and sizes are used, in the order of the file
  return options;
}

Result<std::vector<BloxLogJob>> collect(Result<std::unique_ptr<TraceReader>> reader,
                                        bool multi_gpu) {
  if (!reader) return reader.error();
  std::vector<BloxLogJob> jobs;
  for (; const JobSpec* job = (*reader)->peek(); (*reader)->pop()) {
    jobs.push_back({multi_gpu ? job->gpus : 1, job->duration});
  }
  if ((*reader)->error()) return *(*reader)->error();
  return jobs;
}

}  // namespace

Result<std::vector<BloxLogJob>> parse_blox_log(std::string_view text, std::string_view file,
                                               bool multi_gpu) {
  Symbols symbols;
  return collect(TraceReader::read(bytes_of(std::string(text)), std::string(file),
                                   blox_reading(multi_gpu), symbols),
                 multi_gpu);
}

Result<std::vector<BloxLogJob>> read_blox_log(const std::string& file, bool multi_gpu) {
  Symbols symbols;
  return collect(TraceReader::open(file, blox_reading(multi_gpu), symbols), multi_gpu);
}

}  // namespace muster
