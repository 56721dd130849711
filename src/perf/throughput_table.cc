#include "perf/throughput_table.h"

#include <algorithm>
#include <cmath>
#include <fstream>
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

}  // namespace

// Walks the document twice: the keys first, then the rates, which are stored by position.
class ThroughputReader {
 public:
  ThroughputReader(std::string name, ThroughputTable& table)
      : name_(std::move(name)), table_(table) {}

  Status read(const simdjson::dom::object& document) {
    for (const auto type : document) {
      simdjson::dom::object rows;
      if (type.value.get(rows) != simdjson::SUCCESS) {
        return fail(type.key, "", "an object of job types");
      }
      table_.types_.emplace_back(type.key);
      for (const auto row : rows) {
        ThroughputTable::Key key;
        if (!read_key(row.key, key)) {
          return fail(type.key, row.key, "a key like ('ResNet-18 (batch size 16)', 1)");
        }
        const std::pair index(key.job_type, key.gpus);
        if (table_.index_.emplace(index, static_cast<int>(table_.keys_.size())).second) {
          table_.keys_.push_back(std::move(key));
        }
      }
    }
    if (table_.types_.empty() || table_.keys_.empty()) {
      return Error{
          fmt::format("{}: no throughputs; expected {{\"v100\": {{\"('LM (batch size "
                      "5)', 1)\": {{\"null\": 109.2}}}}}}",
                      name_)};
    }
    const std::size_t cells = table_.types_.size() * table_.keys_.size();
    table_.alone_.resize(cells);
    table_.known_.resize(cells);
    table_.pairs_.resize(cells * table_.keys_.size());
    int at = 0;
    for (const auto type : document) {
      simdjson::dom::object rows;
      if (type.value.get(rows) != simdjson::SUCCESS) continue;
      for (const auto row : rows) {
        if (Status done = read_row(at, type.key, row.key, row.value); !done) return done;
      }
      ++at;
    }
    const std::vector<double>& rates = table_.alone_;
    if (std::none_of(rates.begin(), rates.end(), [](double rate) { return rate > 0; })) {
      return Error{fmt::format(
          "{}: every rate is zero, so no job could run on any GPU; expected steps per second under "
          "\"null\"",
          name_)};
    }
    return Done{};
  }

 private:
  Status read_row(int type, std::string_view type_name, std::string_view name,
                  const simdjson::dom::element& value) {
    const int mine = position(name);
    simdjson::dom::object members;
    if (value.get(members) != simdjson::SUCCESS) {
      return fail(type_name, name, "an object with the rate alone under \"null\"");
    }
    const std::size_t cell = table_.at(type, mine);
    for (const auto member : members) {
      if (member.key == kAlone) {
        if (!rate(member.value, table_.alone_[cell])) {
          return fail(type_name, name, "a rate of zero or more steps per second under \"null\"");
        }
        table_.known_[cell] = 1;
        continue;
      }
      const int other = position(member.key);
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
        return fail(type_name, name,
                    fmt::format("two rates of zero or more beside {}", member.key));
      }
      table_.pairs_[cell * table_.keys_.size() + static_cast<std::size_t>(other)] = pair;
    }
    if (table_.known_[cell] == 0) {
      return fail(type_name, name, "its rate alone under \"null\" beside its pairs");
    }
    return Done{};
  }

  int position(std::string_view text) const {
    ThroughputTable::Key key;
    return read_key(text, key) ? table_.key(key.job_type, key.gpus) : ThroughputTable::kUnknown;
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
  ThroughputTable& table_;
};

int ThroughputTable::type(std::string_view name) const {
  for (std::size_t i = 0; i < types_.size(); ++i) {
    if (types_[i] == name) return static_cast<int>(i);
  }
  return kUnknown;
}

int ThroughputTable::key(std::string_view job_type, int gpus) const {
  const auto found = index_.find(std::pair(std::string(job_type), gpus));
  return found == index_.end() ? kUnknown : found->second;
}

Result<ThroughputTable> ThroughputTable::load(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{fmt::format("{}: cannot be read; check the path", path)};
  std::ostringstream text;
  text << file.rdbuf();
  return parse(text.str(), path);
}

Result<ThroughputTable> ThroughputTable::parse(std::string_view json, const std::string& name) {
  simdjson::dom::parser parser;
  simdjson::dom::object document;
  const simdjson::padded_string padded(json);
  if (const auto code = parser.parse(padded).get(document)) {
    return Error{
        fmt::format("{}: not a table of throughputs: {}", name, simdjson::error_message(code))};
  }
  ThroughputTable table;
  if (Status read = ThroughputReader(name, table).read(document); !read) return read.error();
  return table;
}

}  // namespace muster
