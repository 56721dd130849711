// The files of a result folder as somebody else might have changed them: jobs.csv, timeline.csv and
// the list of a comparison. The first byte chooses the file. (summary.json and decisions.bin have
// fuzzers of their own.)
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fuzzed_file.h"
#include "report/comparison_file.h"
#include "report/result_reader.h"
#include "report/summary_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string folder = fuzz_folder().string();
  if (data[0] % 3 == 2) {
    fuzzed_file(std::string(kComparisonName), text);
    const auto comparison = read_comparison(folder);
    if (!comparison) return 0;
    for (const ComparisonFile::Run& run : comparison->runs) {
      if (run.folder.find('/') != std::string::npos) std::abort();
    }
    return 0;
  }
  fuzzed_file("summary.json", summary_to_json({}));
  fuzzed_file(data[0] % 3 == 0 ? "jobs.csv" : "timeline.csv", text);
  const auto result = ResultFolder::open(folder);
  if (!result) std::abort();
  Symbols symbols;
  std::size_t jobs = 0;
  (void)result->for_each_job(symbols, [&jobs](const JobRecord&) { return ++jobs < 10'000; });
  (void)result->timeline();
  return 0;
}
