#include "workload/perf/throughput_json.h"

#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/text.h"

namespace muster {
namespace {

constexpr std::string_view kAlone = "null";

// The table's keys are Python tuples as text: "('ResNet-18 (batch size 16)', 1)".
bool read_key(std::string_view text, ThroughputTable::Key& key) {
  const std::size_t comma = text.rfind(',');
  if (comma == std::string_view::npos || !text.starts_with("('") || !text.ends_with(")")) {
    return false;
  }
  std::string_view job_type = trim(text.substr(2, comma - 2));
  if (!job_type.ends_with("'")) return false;
  job_type.remove_suffix(1);
  const auto gpus = parse_integer(trim(text.substr(comma + 1, text.size() - comma - 2)));
  if (job_type.empty() || !gpus || *gpus < 1 || *gpus > 1'000'000) return false;
  key = {std::string(job_type), static_cast<int>(*gpus)};
  return true;
}

// Walks the document twice: the keys first, then the rates, which are stored by position.
class ThroughputReader {
 public:
  explicit ThroughputReader(std::string name) : name_(std::move(name)) {}

  Result<ThroughputTable> read(const simdjson::dom::object& document) const {
    auto table = read_keys(document);
    if (!table) return table;
    int type = 0;
    for (const auto member : document) {
      simdjson::dom::object rows;
      if (member.value.get(rows) != simdjson::SUCCESS) continue;
      for (const auto row : rows) {
        if (Status s = read_row(type, member.key, row.key, row.value, *table); !s) return s.error();
      }
      ++type;
    }
    if (!any_job_runs(*table)) {
      return Error{fmt::format(
          "{}: every rate is zero, so no job could run on any GPU; expected steps per second under "
          "\"null\"",
          name_)};
    }
    return table;
  }

 private:
  // The table without its rates.
  Result<ThroughputTable> read_keys(const simdjson::dom::object& document) const {
    std::vector<std::string> types;
    std::vector<ThroughputTable::Key> keys;
    std::set<std::pair<std::string, int>> seen;
    for (const auto type : document) {
      simdjson::dom::object rows;
      if (type.value.get(rows) != simdjson::SUCCESS) {
        return fail(type.key, "", "an object of job types");
      }
      types.emplace_back(type.key);
      for (const auto row : rows) {
        ThroughputTable::Key key;
        if (!read_key(row.key, key)) {
          return fail(type.key, row.key, "a key like ('ResNet-18 (batch size 16)', 1)");
        }
        if (seen.emplace(key.job_type, key.gpus).second) keys.push_back(std::move(key));
      }
    }
    if (types.empty() || keys.empty()) {
      return Error{
          fmt::format("{}: no throughputs; expected {{\"v100\": {{\"('LM (batch size "
                      "5)', 1)\": {{\"null\": 109.2}}}}}}",
                      name_)};
    }
    return ThroughputTable(std::move(types), std::move(keys));
  }

  Status read_row(int type, std::string_view type_name, std::string_view name,
                  const simdjson::dom::element& value, ThroughputTable& table) const {
    const int mine = position(name, table);
    simdjson::dom::object members;
    if (value.get(members) != simdjson::SUCCESS) {
      return fail(type_name, name, "an object with the rate alone under \"null\"");
    }
    for (const auto member : members) {
      if (member.key == kAlone) {
        double alone = 0;
        if (!rate(member.value, alone)) {
          return fail(type_name, name, "a rate of zero or more steps per second under \"null\"");
        }
        table.set_alone(type, mine, alone);
        continue;
      }
      const int other = position(member.key, table);
      if (other == ThroughputTable::kUnknown) {
        return fail(type_name, name,
                    fmt::format("pairs only with job types that have rates of their own, but {} "
                                "has none",
                                member.key));
      }
      simdjson::dom::array two;
      ThroughputTable::Pair pair;
      const bool read = member.value.get(two) == simdjson::SUCCESS && two.size() == 2 &&
                        rate(two.at(0), pair.mine) && rate(two.at(1), pair.other);
      if (!read) {
        return fail(type_name, name, fmt::format("two rates of zero or more under {}", member.key));
      }
      table.set_pair(type, mine, other, pair);
    }
    if (!table.known(type, mine)) {
      return fail(type_name, name, "its rate alone under \"null\" in addition to its pairs");
    }
    return Done{};
  }

  static bool any_job_runs(const ThroughputTable& table) {
    for (int type = 0; type < std::ssize(table.types()); ++type) {
      for (int key = 0; key < std::ssize(table.keys()); ++key) {
        if (table.alone(type, key) > 0) return true;
      }
    }
    return false;
  }

  static int position(std::string_view text, const ThroughputTable& table) {
    ThroughputTable::Key key;
    return read_key(text, key) ? table.key(key.job_type, key.gpus) : ThroughputTable::kUnknown;
  }

  // An element, or the result of looking for one.
  template <typename Value>
  static bool rate(const Value& value, double& rate) {
    return value.get(rate) == simdjson::SUCCESS && std::isfinite(rate) && rate >= 0;
  }

  Error fail(std::string_view type, std::string_view key, std::string_view expected) const {
    return Error{fmt::format("{}: {}{}{}: expected {}", name_, type, key.empty() ? "" : ", ", key,
                             expected)};
  }

  std::string name_;
};

struct OpenTable {
  ThroughputTable table;
  int reference = 0;
};

Result<OpenTable> open_table(std::string_view model, const std::string& path,
                             const std::string& reference) {
  if (path.empty()) {
    return Error{
        fmt::format("performance model '{}': needs the parameter file, a table such as Gavel's "
                    "simulation_throughputs.json (`muster data fetch gavel` brings it)",
                    model)};
  }
  auto table = load_throughput_table(path);
  if (!table) return table.error();
  const int type = table->type(reference);
  if (type == ThroughputTable::kUnknown) {
    const std::vector<std::string_view> known(table->types().begin(), table->types().end());
    return Error{fmt::format("{}: {}", path, unknown_name("GPU type", reference, known))};
  }
  return OpenTable{std::move(*table), type};
}

}  // namespace

Result<ThroughputTable> load_throughput_table(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{fmt::format("{}: cannot be read; check the path", path)};
  std::ostringstream text;
  text << file.rdbuf();
  return parse_throughput_table(text.str(), path);
}

Result<ThroughputTable> parse_throughput_table(std::string_view json, const std::string& name) {
  simdjson::dom::parser parser;
  simdjson::dom::object document;
  const simdjson::padded_string padded(json);
  if (const auto code = parser.parse(padded).get(document)) {
    return Error{
        fmt::format("{}: not a table of throughputs: {}", name, simdjson::error_message(code))};
  }
  return ThroughputReader(name).read(document);
}

Result<std::unique_ptr<PerfModel>> load_throughputs(const std::string& path,
                                                    const std::string& reference,
                                                    Symbols& symbols) {
  auto open = open_table("throughputs", path, reference);
  if (!open) return open.error();
  return make_throughputs(std::move(open->table), open->reference, symbols);
}

Result<std::unique_ptr<PerfModel>> load_estimated_throughputs(const std::string& path,
                                                              const std::string& reference,
                                                              const PairEstimateOptions& options,
                                                              Symbols& symbols) {
  auto open = open_table("estimated-throughputs", path, reference);
  if (!open) return open.error();
  return make_estimated_throughputs(std::move(open->table), open->reference, options, symbols);
}

}  // namespace muster
