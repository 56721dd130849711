#include "workload/formats/gavel_throughputs.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>

#include "base/text.h"
#include "workload/byte_input.h"
#include "workload/numbers.h"

namespace muster {
namespace {

// The table's keys are Python tuples as text: "('ResNet-18 (batch size 16)', 1)".
bool read_key(std::string_view key, std::string_view& job_type, int& gpus) {
  const std::size_t comma = key.rfind(',');
  if (comma == std::string_view::npos || !key.starts_with("('") || !key.ends_with(")"))
    return false;
  job_type = trim(key.substr(2, comma - 2));
  if (!job_type.ends_with("'")) return false;
  job_type.remove_suffix(1);
  return read_whole_number(trim(key.substr(comma + 1, key.size() - comma - 2)), gpus);
}

}  // namespace

Result<GavelThroughputs> load_gavel_throughputs(const std::string& path,
                                                std::string_view gpu_type) {
  const auto text = read_whole(path);
  if (!text) return text.error();
  simdjson::dom::parser parser;
  simdjson::dom::object types;
  if (const auto code = parser.parse(*text).get(types)) {
    return Error{
        fmt::format("{}: not a table of throughputs: {}", path, simdjson::error_message(code))};
  }
  simdjson::dom::object jobs;
  if (types[gpu_type].get(jobs) != simdjson::SUCCESS) {
    std::vector<std::string_view> known;
    for (const auto entry : types) known.push_back(entry.key);
    return Error{fmt::format("{}: {}", path, unknown_name("GPU type", gpu_type, known))};
  }
  GavelThroughputs throughputs;
  for (const auto entry : jobs) {
    std::string_view job_type;
    int gpus = 0;
    double rate = 0;
    if (!read_key(entry.key, job_type, gpus) ||
        entry.value["null"].get(rate) != simdjson::SUCCESS) {
      return Error{
          fmt::format("{}: found the entry \"{}\", expected one like \"('ResNet-18 (batch size "
                      "16)', 1)\" that holds "
                      "a number under \"null\"",
                      path, entry.key)};
    }
    throughputs.add(job_type, gpus, rate);
  }
  if (throughputs.empty()) {
    return Error{fmt::format("{}: no throughputs for the GPU type '{}'", path, gpu_type)};
  }
  return throughputs;
}

}  // namespace muster
