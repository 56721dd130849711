// Tables that runs and models are made of: the CSV that models learn from, and throughputs by GPU
// type. Columns of a table are as long as it says.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "learn/examples.h"
#include "workload/perf/throughput_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto table = muster::parse_examples(text, "table.csv", {"user"})) {
    for (const muster::ExampleColumn& column : table->columns) {
      const std::size_t rows = column.is_text ? column.texts.size() : column.numbers.size();
      if (rows != table->rows) std::abort();
    }
  }
  (void)muster::parse_throughput_table(text, "table.json");
  return 0;
}
