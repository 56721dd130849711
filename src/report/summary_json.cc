#include "report/summary_json.h"

#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/json.h"

namespace muster {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 7> kUnitKeys = {"count",     "seconds",   "ratio",  "factor",
                                                       "gpu_hours", "megabytes", "dollars"};
constexpr std::array<std::string_view, 3> kBetterKeys = {"neither", "lower", "higher"};

struct GroupField {
  std::string_view key;
  double GroupRow::*field;
};
constexpr std::array kGroupFields = {
    GroupField{"jobs", &GroupRow::jobs},
    GroupField{"finished", &GroupRow::finished},
    GroupField{"refused", &GroupRow::refused},
    GroupField{"failed", &GroupRow::failed},
    GroupField{"cancelled", &GroupRow::cancelled},
    GroupField{"preemptions", &GroupRow::preemptions},
    GroupField{"avg_jct_s", &GroupRow::avg_jct_s},
    GroupField{"avg_queue_s", &GroupRow::avg_queue_s},
    GroupField{"gpu_hours", &GroupRow::gpu_hours},
};

void write_groups(JsonWriter& json, std::string_view key, const std::vector<GroupRow>& groups) {
  json.key(key).begin_array();
  for (const GroupRow& group : groups) {
    json.begin_object().member("name", std::string_view(group.name));
    for (const GroupField& field : kGroupFields) json.member(field.key, group.*field.field);
    json.end_object();
  }
  json.end_array();
}

void write_names(JsonWriter& json, std::string_view key, const std::vector<std::string>& names) {
  json.key(key).begin_array();
  for (const std::string& name : names) json.value(std::string_view(name));
  json.end_array();
}

void write_curve(JsonWriter& json, std::string_view key, const std::vector<CurvePoint>& curve) {
  // Two plain lists: smaller than pairs, and ready for plotting.
  json.key(key).begin_object().key("value").begin_array();
  for (const CurvePoint& point : curve) json.value(point.value);
  json.end_array().key("fraction").begin_array();
  for (const CurvePoint& point : curve) json.value(point.fraction);
  json.end_array().end_object();
}

void write_reasons(JsonWriter& json, const RunSummary& summary) {
  json.key("decisions").begin_array();
  for (const DecisionCount& row : summary.decisions) {
    json.begin_object()
        .member("action", action_name(row.action))
        .member("reason", reason_name(row.reason));
    json.member("count", row.count).end_object();
  }
  json.end_array().key("waits").begin_array();
  for (const WaitCause& row : summary.waits) {
    json.begin_object().member("reason", reason_name(row.reason)).member("held", row.held);
    json.member("job_seconds", row.job_seconds).end_object();
  }
  json.end_array();
}

// Reading is lenient: a member of another type than ours counts as missing.
double number_at(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : kNoFigure;
}

std::string text_at(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

const Json& list_at(const Json& object, std::string_view key) {
  static const Json kEmpty = Json::array();
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : kEmpty;
}

// Position of a name in a list of names; `fallback` for names of a newer version.
template <typename Enum>
Enum named(const std::string& name, Enum last, std::string_view (*name_of)(Enum), Enum fallback) {
  for (std::size_t i = 0; i <= static_cast<std::size_t>(last); ++i) {
    if (name_of(static_cast<Enum>(i)) == name) return static_cast<Enum>(i);
  }
  return fallback;
}

template <typename Enum, std::size_t N>
Enum keyed(const std::string& name, const std::array<std::string_view, N>& keys) {
  for (std::size_t i = 0; i < N; ++i) {
    if (keys[i] == name) return static_cast<Enum>(i);
  }
  return Enum{};
}

std::vector<GroupRow> read_groups(const Json& root, std::string_view key) {
  std::vector<GroupRow> groups;
  for (const Json& item : list_at(root, key)) {
    if (!item.is_object()) continue;
    GroupRow& row = groups.emplace_back();
    row.name = text_at(item, "name");
    for (const GroupField& field : kGroupFields) row.*field.field = number_at(item, field.key);
  }
  return groups;
}

std::vector<std::string> read_names(const Json& object, std::string_view key) {
  std::vector<std::string> names;
  for (const Json& item : list_at(object, key)) {
    if (item.is_string()) names.push_back(item.get<std::string>());
  }
  return names;
}

std::vector<CurvePoint> read_curve(const Json& root, std::string_view key) {
  std::vector<CurvePoint> curve;
  const auto found = root.find(key);
  if (found == root.end() || !found->is_object()) return curve;
  const Json& values = list_at(*found, "value");
  const Json& fractions = list_at(*found, "fraction");
  for (std::size_t i = 0; i < values.size() && i < fractions.size(); ++i) {
    if (values[i].is_number() && fractions[i].is_number()) {
      curve.push_back({values[i].get<double>(), fractions[i].get<double>()});
    }
  }
  return curve;
}

void read_lists(const Json& root, RunSummary& summary) {
  for (const Json& item : list_at(root, "custom")) {
    if (!item.is_object()) continue;
    summary.custom.push_back({text_at(item, "key"), text_at(item, "label"),
                              keyed<Unit>(text_at(item, "unit"), kUnitKeys),
                              keyed<Better>(text_at(item, "better"), kBetterKeys),
                              number_at(item, "value")});
  }
  for (const Json& item : list_at(root, "decisions")) {
    if (!item.is_object()) continue;
    summary.decisions.push_back(
        {named(text_at(item, "action"), kLastAction, &action_name, Action::kSubmit),
         named(text_at(item, "reason"), kLastReason, &reason_name, Reason::kNone),
         number_at(item, "count")});
  }
  for (const Json& item : list_at(root, "waits")) {
    if (!item.is_object()) continue;
    summary.waits.push_back(
        {named(text_at(item, "reason"), kLastReason, &reason_name, Reason::kNone),
         item.value("held", Json(false)) == Json(true), number_at(item, "job_seconds")});
  }
  summary.partitions = read_groups(root, "partitions");
  summary.users = read_groups(root, "users");
  summary.sizes = read_groups(root, "sizes");
  summary.priorities = read_groups(root, "priorities");
  summary.jct_curve = read_curve(root, "jct_curve");
  summary.queue_curve = read_curve(root, "queue_curve");
}

}  // namespace

std::string summary_to_json(const SummaryFile& file) {
  const RunSummary& summary = file.summary;
  JsonWriter json(1);
  json.begin_object();
  json.member("format", kResultFormat).member("version", static_cast<double>(kResultVersion));
  json.member("muster", MUSTER_VERSION).member("label", std::string_view(file.info.label));
  json.member("complete", file.complete);
  if (!file.complete) json.member("incomplete_because", std::string_view(file.incomplete_because));
  Metrics metrics = summary.metrics;
  metrics.wall_s = file.info.wall_s;
  metrics.peak_rss_mb = file.info.peak_rss_mb;
  for (const MetricInfo& metric : metric_list()) json.member(metric.key, metrics.*metric.field);
  json.member("quantile_error", summary.quantile_error);
  json.key("custom").begin_array();
  for (const CustomFigure& figure : summary.custom) {
    json.begin_object().member("key", std::string_view(figure.key));
    json.member("label", std::string_view(figure.label));
    json.member("unit", kUnitKeys.at(static_cast<std::size_t>(figure.unit)));
    json.member("better", kBetterKeys.at(static_cast<std::size_t>(figure.better)));
    json.member("value", figure.value).end_object();
  }
  json.end_array().key("settings").begin_array();
  for (const auto& [name, text] : file.info.settings) {
    json.begin_object()
        .member("name", std::string_view(name))
        .member("value", std::string_view(text))
        .end_object();
  }
  json.end_array().key("cluster").begin_object();
  write_names(json, "partitions", file.info.partitions);
  write_names(json, "gpu_types", file.info.gpu_types);
  json.end_object();
  write_names(json, "notes", file.info.notes);
  write_names(json, "warnings", file.info.warnings);
  json.member("clairvoyant", file.info.clairvoyant);
  json.member("rerun", std::string_view(file.info.rerun));
  write_groups(json, "partitions", summary.partitions);
  write_groups(json, "users", summary.users);
  write_groups(json, "sizes", summary.sizes);
  write_groups(json, "priorities", summary.priorities);
  write_reasons(json, summary);
  write_curve(json, "jct_curve", summary.jct_curve);
  write_curve(json, "queue_curve", summary.queue_curve);
  json.end_object();
  return json.take() + "\n";
}

Result<SummaryFile> summary_from_json(std::string_view text, std::string_view where) {
  const Json root = Json::parse(text, nullptr, false);
  if (root.is_discarded() || !root.is_object()) {
    return Error{
        fmt::format("{} is not JSON: it was damaged or cut off; run the experiment again", where)};
  }
  if (text_at(root, "format") != kResultFormat) {
    return Error{fmt::format(
        "{} is not the summary of a muster result: its \"format\" is '{}', expected '{}'", where,
        text_at(root, "format"), kResultFormat)};
  }
  if (number_at(root, "version") != kResultVersion) {
    return Error{fmt::format(
        "{} has version {}, but this muster reads version {}; use the muster that wrote it", where,
        number_at(root, "version"), kResultVersion)};
  }
  SummaryFile file;
  file.info.label = text_at(root, "label");
  file.info.rerun = text_at(root, "rerun");
  file.complete = root.value("complete", Json(false)) == Json(true);
  file.incomplete_because = text_at(root, "incomplete_because");
  for (const MetricInfo& metric : metric_list()) {
    file.summary.metrics.*metric.field = number_at(root, metric.key);
  }
  file.info.wall_s = file.summary.metrics.wall_s;
  file.info.peak_rss_mb = file.summary.metrics.peak_rss_mb;
  if (const double error = number_at(root, "quantile_error"); error > 0)
    file.summary.quantile_error = error;
  for (const Json& item : list_at(root, "settings")) {
    if (item.is_object())
      file.info.settings.emplace_back(text_at(item, "name"), text_at(item, "value"));
  }
  if (const auto cluster = root.find("cluster"); cluster != root.end() && cluster->is_object()) {
    file.info.partitions = read_names(*cluster, "partitions");
    file.info.gpu_types = read_names(*cluster, "gpu_types");
  }
  file.info.notes = read_names(root, "notes");
  file.info.warnings = read_names(root, "warnings");
  if (const auto knows = root.find("clairvoyant"); knows != root.end() && knows->is_boolean()) {
    file.info.clairvoyant = knows->get<bool>();
  }
  read_lists(root, file.summary);
  return file;
}

}  // namespace muster
