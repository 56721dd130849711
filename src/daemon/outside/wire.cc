#include "daemon/outside/wire.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "policy/outside/columns.h"

namespace muster {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kHeader = 4;

template <typename T>
std::string packed(char type, const std::vector<T>& values) {
  std::string payload(1 + values.size() * sizeof(T), type);
  if (!values.empty()) std::memcpy(payload.data() + 1, values.data(), values.size() * sizeof(T));
  return payload;
}

// `value(i)` for every i as numbers of the column's type.
template <typename Value>
std::string column_payload(const char* type, std::size_t count, const Value& value) {
  if (type[0] == 'f') {
    std::vector<double> numbers(count);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = value(i);
    return packed('f', numbers);
  }
  if (type[0] == 'i') {
    std::vector<std::int64_t> numbers(count);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<std::int64_t>(value(i));
    return packed('i', numbers);
  }
  std::string flags(1 + count, '?');
  for (std::size_t i = 0; i < count; ++i) flags[1 + i] = value(i) != 0 ? 1 : 0;
  return flags;
}

template <typename Text>
std::string texts_payload(std::size_t count, const Text& text) {
  Json list = Json::array();
  for (std::size_t i = 0; i < count; ++i) list.push_back(text(i));
  return "t" + list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <typename Table>
auto row_named(const Table& table, std::string_view name) {
  return std::find_if(table.begin(), table.end(),
                      [name](const auto& row) { return name == row.name; });
}

std::optional<std::string> of_jobs(const PolicyQuestion& question, std::string_view name,
                                   const Symbols& symbols) {
  const std::vector<Slot>& slots = *question.slots;
  const JobTable& jobs = question.view->jobs;
  if (name == "speeds") return packed('f', speeds_of(*question.view, slots));
  if (constexpr std::string_view kMetric = "metric."; name.starts_with(kMetric)) {
    name.remove_prefix(kMetric.size());
    return packed('f', metric_of(*question.view, slots, name));
  }
  if (const auto column = row_named(job_columns(), name); column != job_columns().end()) {
    return column_payload(column->type, slots.size(),
                          [&](std::size_t i) { return column->get(jobs[slots[i]], question.now); });
  }
  const auto text = row_named(job_texts(), name);
  if (text == job_texts().end()) return std::nullopt;
  return texts_payload(
      slots.size(), [&](std::size_t i) { return symbols.text(jobs[slots[i]].spec.*text->symbol); });
}

std::optional<std::string> of_cluster(const PolicyQuestion& question, std::string_view name,
                                      const Symbols& symbols) {
  const ClusterState& cluster = *question.cluster;
  if (name == "types") {
    const std::vector<Symbol> types = types_of(cluster);
    return texts_payload(types.size(), [&](std::size_t i) { return symbols.text(types[i]); });
  }
  if (name == "capacity") return packed('i', usable_by_type(cluster));
  if (!name.starts_with("nodes.")) return std::nullopt;
  name.remove_prefix(6);
  const std::size_t count = cluster.node_count();
  if (const auto column = row_named(node_columns(), name); column != node_columns().end()) {
    return column_payload(column->type, count, [&](std::size_t i) {
      return column->get(cluster, NodeId{static_cast<std::uint32_t>(i)});
    });
  }
  const auto text = row_named(node_texts(), name);
  if (text == node_texts().end()) return std::nullopt;
  return texts_payload(
      count, [&](std::size_t i) { return symbols.text(cluster.spec().nodes[i].*text->symbol); });
}

std::optional<std::string> of_problem(const AllocationProblem& problem, std::string_view name) {
  const ProblemColumns columns(problem);
  if (name == "rates") return packed('f', columns.rates);
  if (name == "jobs") return packed('f', columns.jobs);
  if (name == "capacity") return packed('f', columns.capacity);
  if (name == "price") return packed('f', columns.price);
  return std::nullopt;
}

// A text of the process, fit for a line of a log.
std::string shown(std::string_view text) {
  std::string line(text.substr(0, 60));
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 32 || c > 126; }, '?');
  return line;
}

template <typename T>
bool unpack(std::string_view bytes, std::vector<T>& values) {
  if (bytes.size() % sizeof(T) != 0) return false;
  values.resize(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return true;
}

}  // namespace

std::string framed(char kind, std::string_view payload) {
  const std::size_t length = payload.size() + 1;
  std::string text;
  text.reserve(kHeader + length);
  for (std::size_t i = 0; i < kHeader; ++i) {
    text.push_back(static_cast<char>((length >> (8 * i)) & 0xffU));
  }
  text.push_back(kind);
  text.append(payload);
  return text;
}

Result<std::optional<Message>> MessageReader::next() {
  if (bytes_.size() < kHeader) return std::optional<Message>();
  std::size_t length = 0;
  for (std::size_t i = 0; i < kHeader; ++i) {
    length |= static_cast<std::size_t>(static_cast<unsigned char>(bytes_[i])) << (8 * i);
  }
  if (length == 0 || length > kLongestMessage) {
    return Error{
        fmt::format("sent a message of {} bytes, expected 1 to {}", length, kLongestMessage)};
  }
  if (bytes_.size() < kHeader + length) return std::optional<Message>();
  Message message{bytes_[kHeader], bytes_.substr(kHeader + 1, length - 1)};
  bytes_.erase(0, kHeader + length);
  return std::optional<Message>(std::move(message));
}

Result<Declared> read_declaration(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return Error{"declared something that is not an object"};
  Declared declared;
  try {
    declared.form = json.at("form").get<std::string>();
    for (const DeclaredFlag& flag : declared_flags()) {
      declared.*flag.value = json.at(flag.name).get<bool>();
    }
    for (const DeclaredNumber& number : declared_numbers()) {
      const Json& given = json.at(number.name);
      declared.*number.value = given.is_null() ? kNever : given.get<double>();
    }
    for (const Json& need : json.at("needs")) {
      auto known = need_named(need.at(0).get<std::string>(), need.at(1).get<std::string>());
      if (!known) return known.error();
      declared.needs.push_back(*known);
    }
  } catch (const Json::exception& problem) {
    return Error{fmt::format("declared what cannot be read: {}", problem.what())};
  }
  return declared;
}

std::string declaration_text(const Declared& declared) {
  Json json = {{"form", declared.form}, {"needs", Json::array()}};
  for (const DeclaredFlag& flag : declared_flags()) json[flag.name] = declared.*flag.value;
  for (const DeclaredNumber& number : declared_numbers()) {
    const double value = declared.*number.value;
    json[number.name] = value == kNever ? Json() : Json(value);
  }
  for (const Need& need : declared.needs) {
    json["needs"].push_back(
        {knowledge_names()[static_cast<std::size_t>(need.of)], std::string(need.otherwise)});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Status read_answer(const Message& message, const std::string& form, PolicyAnswer& answer) {
  answer.clear();
  const bool integers = form == "order" || form == "allocate" || form == "find";
  const char expected = form == "admit" ? 'W' : integers ? 'I' : 'N';
  if (form == "find" && message.kind == 'O') {
    answer.nothing = true;
    return Done{};
  }
  if (message.kind != expected) {
    return Error{fmt::format("sent a message of kind {}, expected {}",
                             static_cast<int>(message.kind), expected)};
  }
  if (expected == 'W') {
    answer.word = message.payload;
    return Done{};
  }
  const bool whole =
      integers ? unpack(message.payload, answer.integers) : unpack(message.payload, answer.numbers);
  if (!whole) return Error{"sent part of a number"};
  return Done{};
}

std::string question_text(const PolicyQuestion& question, std::uint64_t instance) {
  Json json = {{"instance", instance}, {"now", question.now}};
  if (question.problem == nullptr) {
    json["jobs"] = question.slots->size();
    json["gpus"] = question.gpus;
    json["demanded"] = question.demanded;
    json["free"] = question.cluster->free_gpus();
    json["usable"] = question.cluster->usable_gpus();
  }
  return json.dump();
}

Result<std::string> value_of(const PolicyQuestion& question, std::string_view name,
                             const Symbols& symbols) {
  std::optional<std::string> found;
  if (question.problem != nullptr) {
    if (name.starts_with("problem.")) found = of_problem(*question.problem, name.substr(8));
  } else if (name.starts_with("jobs.")) {
    found = of_jobs(question, name.substr(5), symbols);
  } else if (name.starts_with("cluster.")) {
    found = of_cluster(question, name.substr(8), symbols);
  }
  if (!found) return Error{fmt::format("asked for '{}', which does not exist", shown(name))};
  return std::move(*found);
}

}  // namespace muster
