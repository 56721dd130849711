#include "perf/colocation.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "perf/workload_name.h"

namespace muster {
namespace {

// A small table with a header, read whole; cells are found by the name of their column.
class SmallTable {
 public:
  static Result<SmallTable> read(const std::string& path) {
    SmallTable table;
    table.path_ = path;
    std::ifstream file(path);
    if (!file) return Error{fmt::format("{}: cannot be read; check the path", path)};
    std::string line;
    while (std::getline(file, line)) {
      std::vector<std::string> cells;
      for (const std::string_view cell : split(trim(line), ',')) cells.emplace_back(trim(cell));
      if (table.header_.empty()) {
        table.header_ = std::move(cells);
        continue;
      }
      ++table.line_;
      if (trim(line).empty()) continue;
      if (cells.size() != table.header_.size()) {
        return Error{fmt::format("{}:{}: {} cells where the header has {}", path, table.line_ + 1,
                                 cells.size(), table.header_.size())};
      }
      table.rows_.push_back(std::move(cells));
      table.lines_.push_back(table.line_ + 1);
    }
    if (table.header_.empty()) return Error{fmt::format("{}: empty; a header was expected", path)};
    return table;
  }

  std::size_t rows() const { return rows_.size(); }
  bool has(std::string_view column) const { return column_of(column).has_value(); }
  Status require(const std::vector<std::string>& columns) const {
    for (const std::string& column : columns) {
      if (!has(column)) {
        return Error{
            fmt::format("{}: no column '{}'; found: {}", path_, column, fmt::join(header_, ", "))};
      }
    }
    return Done{};
  }
  const std::string& text(std::size_t row, std::string_view column) const {
    return rows_[row][*column_of(column)];
  }
  Result<double> number(std::size_t row, std::string_view column, double least) const {
    const auto value = parse_real(text(row, column));
    if (!value || !std::isfinite(*value) || *value < least) {
      return Error{fmt::format("{}:{}: column '{}': found '{}', expected a number of at least {}",
                               path_, lines_[row], column, text(row, column), least)};
    }
    return *value;
  }
  // The workload a row speaks of; `which` is "", "1" or "2".
  std::string workload(std::size_t row, std::string_view which) const {
    const std::string whole = fmt::format("workload{}", which);
    if (has(whole)) return text(row, whole);
    const auto part = [&](std::string_view column) {
      const std::string name = fmt::format("{}{}", column, which);
      return has(name) ? text(row, name) : std::string();
    };
    return workload_name(part("model"), part("dataset"), part("batchsize"), part("amp") == "1");
  }

 private:
  std::optional<std::size_t> column_of(std::string_view name) const {
    const auto found = std::find(header_.begin(), header_.end(), name);
    if (found == header_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - header_.begin());
  }

  std::string path_;
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<int> lines_;
  int line_ = 0;
};

class Colocation final : public PerfModel {
 public:
  explicit Colocation(ColocationOptions options) : options_(std::move(options)) {}

  double rate(const JobSpec& job, const RunContext& context) const override {
    double product = 1;
    for (const JobSpec* other : context.neighbours) {
      product *= beside(job.model, other->model, context.joined);
    }
    return product;
  }
  const WorkloadProfile* profile(Symbol model) const override {
    const auto found = profiles_.find(model);
    return found == profiles_.end() ? nullptr : &found->second;
  }

  // `joined` only matters between two of the same workload, whose two measured speeds differ a bit.
  double beside(Symbol mine, Symbol theirs, bool joined) const {
    if (undisturbed_.count(mine) > 0 || undisturbed_.count(theirs) > 0) return 1;
    if (const auto found = pairs_.find({mine, theirs}); found != pairs_.end()) {
      const Speeds& speeds = found->second;
      return mine == theirs && !joined ? speeds.second : speeds.first;
    }
    const WorkloadProfile* a = profile(mine);
    const WorkloadProfile* b = profile(theirs);
    if (a == nullptr || b == nullptr) return 1 - options_.unknown_loss;
    const double busy = std::max(0.0, a->gpu_util + b->gpu_util - options_.spare);
    return std::max(options_.slowest, 1 - options_.slope * busy);
  }

  Status read_profiles(Symbols& symbols) {
    if (options_.profiles.empty()) return Done{};
    const auto table = SmallTable::read(options_.profiles);
    if (!table) return table.error();
    if (!table->has("workload")) {
      if (Status found = table->require({"model"}); !found) return found;
    }
    if (Status found = table->require({"gpu_util", "gmem_util", "gmem"}); !found) return found;
    for (std::size_t row = 0; row < table->rows(); ++row) {
      const std::string name = table->workload(row, "");
      const auto gpu = table->number(row, "gpu_util", 0);
      if (!gpu) return gpu.error();
      const auto memory = table->number(row, "gmem_util", 0);
      if (!memory) return memory.error();
      const auto megabytes = table->number(row, "gmem", 0);
      if (!megabytes) return megabytes.error();
      WorkloadProfile profile;
      profile.gpu_util = *gpu;
      profile.memory_util = *memory;
      profile.memory_mb = *megabytes;
      profile.mixed_precision = table->has("amp") && table->text(row, "amp") == "1";
      profile.share_score = score_by_utilisation(profile);
      if (table->has("label")) {
        const auto label = table->number(row, "label", 0);
        if (!label) return label.error();
        profile.share_score = static_cast<int>(*label);
      }
      profiles_[symbols.intern(name)] = profile;
      const std::string model = name.substr(0, name.find('/'));
      const auto& free = options_.undisturbed;
      if (std::find(free.begin(), free.end(), model) != free.end()) {
        undisturbed_[symbols.intern(name)] = true;
      }
    }
    return Done{};
  }

  Status read_pairs(Symbols& symbols) {
    if (options_.pairs.empty()) return Done{};
    const auto table = SmallTable::read(options_.pairs);
    if (!table) return table.error();
    if (!table->has("workload1")) {
      if (Status found = table->require({"model1", "model2"}); !found) return found;
    }
    if (Status found = table->require({"speed1", "speed2"}); !found) return found;
    constexpr double kSlowest = 1e-3;
    for (std::size_t row = 0; row < table->rows(); ++row) {
      const Symbol first = symbols.intern(table->workload(row, "1"));
      const Symbol second = symbols.intern(table->workload(row, "2"));
      const auto speed_1 = table->number(row, "speed1", kSlowest);
      if (!speed_1) return speed_1.error();
      const auto speed_2 = table->number(row, "speed2", kSlowest);
      if (!speed_2) return speed_2.error();
      pairs_[{first, second}] = {*speed_1, *speed_2};
      if (first != second) pairs_[{second, first}] = {*speed_2, *speed_1};
    }
    return Done{};
  }

  Status check_complete(const Symbols& symbols) const {
    if (options_.estimate_missing) return Done{};
    for (const auto& [mine, profile] : profiles_) {
      for (const auto& [theirs, other] : profiles_) {
        if (undisturbed_.count(mine) + undisturbed_.count(theirs) > 0) continue;
        if (pairs_.count({mine, theirs}) > 0) continue;
        return Error{fmt::format(
            "{}: no row for {} beside {}; measure that pair, or let missing pairs be estimated "
            "(missing=estimate)",
            options_.pairs, symbols.text(mine), symbols.text(theirs))};
      }
    }
    return Done{};
  }

 private:
  // Where nobody labelled the workload: a light neighbour leaves most of the GPU idle.
  static int score_by_utilisation(const WorkloadProfile& profile) {
    if (profile.gpu_util >= 85 || profile.memory_util >= 50) return 2;
    return profile.gpu_util >= 50 || profile.memory_util >= 30 ? 1 : 0;
  }

  ColocationOptions options_;
  std::map<Symbol, WorkloadProfile> profiles_;
  std::map<Symbol, bool> undisturbed_;
  using Speeds = std::pair<double, double>;
  std::map<std::pair<Symbol, Symbol>, Speeds> pairs_;
};

}  // namespace

Result<std::unique_ptr<PerfModel>> make_colocation(const ColocationOptions& options,
                                                   Symbols& symbols) {
  auto model = std::make_unique<Colocation>(options);
  if (Status read = model->read_profiles(symbols); !read) return read.error();
  if (Status read = model->read_pairs(symbols); !read) return read.error();
  if (Status checked = model->check_complete(symbols); !checked) return checked.error();
  return std::unique_ptr<PerfModel>(std::move(model));
}

}  // namespace muster
