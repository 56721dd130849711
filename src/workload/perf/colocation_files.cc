#include "workload/perf/colocation_files.h"

#include <algorithm>

#include <fmt/format.h>

#include "perf/workload_name.h"
#include "workload/perf/small_table.h"

namespace muster {
namespace {

// The workload a row speaks of; `which` is "", "1" or "2".
std::string workload_of(const SmallTable& table, std::size_t row, std::string_view which) {
  const std::string whole = fmt::format("workload{}", which);
  if (table.has(whole)) return table.text(row, whole);
  const auto part = [&](std::string_view column) {
    const std::string name = fmt::format("{}{}", column, which);
    return table.has(name) ? table.text(row, name) : std::string();
  };
  return workload_name(part("model"), part("dataset"), part("batchsize"), part("amp") == "1");
}

Result<WorkloadProfile> read_profile(const SmallTable& table, std::size_t row) {
  const auto gpu = table.number(row, "gpu_util", 0);
  if (!gpu) return gpu.error();
  const auto memory = table.number(row, "gmem_util", 0);
  if (!memory) return memory.error();
  const auto megabytes = table.number(row, "gmem", 0);
  if (!megabytes) return megabytes.error();
  WorkloadProfile profile;
  profile.gpu_util = *gpu;
  profile.memory_util = *memory;
  profile.memory_mb = *megabytes;
  profile.mixed_precision = table.has("amp") && table.text(row, "amp") == "1";
  profile.share_score = score_by_utilisation(profile);
  if (table.has("label")) {
    const auto label = table.number(row, "label", 0);
    if (!label) return label.error();
    profile.share_score = static_cast<int>(*label);
  }
  return profile;
}

Status read_profiles(const ColocationFiles& files, Symbols& symbols, ColocationTables& tables) {
  if (files.profiles.empty()) return Done{};
  const auto table = SmallTable::read(files.profiles);
  if (!table) return table.error();
  if (!table->has("workload")) {
    if (Status found = table->require({"model"}); !found) return found;
  }
  if (Status found = table->require({"gpu_util", "gmem_util", "gmem"}); !found) return found;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const auto profile = read_profile(*table, row);
    if (!profile) return profile.error();
    const std::string name = workload_of(*table, row, "");
    const Symbol symbol = symbols.intern(name);
    tables.profiles[symbol] = *profile;
    const std::string model = name.substr(0, name.find('/'));
    const auto& free = files.undisturbed;
    if (std::find(free.begin(), free.end(), model) != free.end()) tables.undisturbed.insert(symbol);
  }
  return Done{};
}

Status read_pairs(const ColocationFiles& files, Symbols& symbols, ColocationTables& tables) {
  if (files.pairs.empty()) return Done{};
  const auto table = SmallTable::read(files.pairs);
  if (!table) return table.error();
  if (!table->has("workload1")) {
    if (Status found = table->require({"model1", "model2"}); !found) return found;
  }
  if (Status found = table->require({"speed1", "speed2"}); !found) return found;
  constexpr double kSlowest = 1e-3;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const Symbol first = symbols.intern(workload_of(*table, row, "1"));
    const Symbol second = symbols.intern(workload_of(*table, row, "2"));
    const auto speed_1 = table->number(row, "speed1", kSlowest);
    if (!speed_1) return speed_1.error();
    const auto speed_2 = table->number(row, "speed2", kSlowest);
    if (!speed_2) return speed_2.error();
    tables.pairs[{first, second}] = {*speed_1, *speed_2};
    if (first != second) tables.pairs[{second, first}] = {*speed_2, *speed_1};
  }
  return Done{};
}

Status check_complete(const ColocationFiles& files, const ColocationTables& tables,
                      const Symbols& symbols) {
  for (const auto& [mine, profile] : tables.profiles) {
    for (const auto& [theirs, other] : tables.profiles) {
      if (tables.undisturbed.count(mine) + tables.undisturbed.count(theirs) > 0) continue;
      if (tables.pairs.count({mine, theirs}) > 0) continue;
      return Error{
          fmt::format("{}: no row for {} co-located with {}; measure that pair, or let missing "
                      "pairs be estimated (missing=estimate)",
                      files.pairs, symbols.text(mine), symbols.text(theirs))};
    }
  }
  return Done{};
}

}  // namespace

Result<std::unique_ptr<PerfModel>> load_colocation(const ColocationFiles& files,
                                                   const ColocationOptions& options,
                                                   Symbols& symbols) {
  ColocationTables tables;
  if (Status read = read_profiles(files, symbols, tables); !read) return read.error();
  if (Status read = read_pairs(files, symbols, tables); !read) return read.error();
  if (files.complete) {
    if (Status checked = check_complete(files, tables, symbols); !checked) return checked.error();
  }
  return make_colocation(std::move(tables), options);
}

}  // namespace muster
