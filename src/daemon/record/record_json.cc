#include "daemon/record/record_json.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "daemon/stored_rows.h"
#include "engine/recording_words.h"

namespace muster {
namespace {

using Json = nlohmann::json;

// The fields of each value, written down once for both directions: `field(name, member)`. What a
// job asked for is in the list that all recordings share.

template <typename Event, typename Field>
void each_field_of_event(Event& event, Field field) {
  field("time", event.time);
  field("kind", event.kind);
  field("revision", event.revision);
  field("slot", event.slot);
  field("job", event.job);
  field("launch", event.launch);
  field("node", event.node);
  field("gpu", event.gpu);
  field("work", event.work);
  field("rate", event.rate);
  field("saved", event.saved);
  field("value", event.value);
  field("metric", event.metric);
}

// Where a job lives, and its ring of neighbours, are found anew when it is adopted.
template <typename OneJob, typename Field>
void each_field_of_job(OneJob& job, Field field) {
  field("state", job.state);
  field("total_work", job.total_work);
  field("work", job.work);
  field("rate", job.rate);
  field("since", job.since);
  field("saved_work", job.saved_work);
  field("added_work", job.added_work);
  field("gpus", job.gpus);
  field("cpus_per_gpu", job.host.cpus_per_gpu);
  field("memory_per_gpu", job.host.memory_per_gpu);
  field("held_since", job.held_since);
  field("held_before", job.held_before);
  field("gpu_seconds_before", job.gpu_seconds_before);
  field("waiting_since", job.waiting_since);
  field("waited_before", job.waited_before);
  field("admitted", job.admitted);
  field("first_start", job.first_start);
  field("preemptions", job.preemptions);
  field("restarts", job.restarts);
  field("crashes", job.crashes);
  field("resizes", job.resizes);
  field("lost_work", job.lost_work);
  field("overhead", job.overhead);
  field("launch", job.launch);
  field("ended", job.ended);
  field("failed_starts", job.failed_starts);
  field("start_order", job.start_order);
  field("joined", job.joined);
  field("opportunistic", job.opportunistic);
}

template <typename Node, typename Field>
void each_field_of_node(Node& node, Field field) {
  field("node", node.node);
  field("up", node.up);
  field("drained", node.drained);
  field("removed", node.removed);
  field("broken_gpus", node.broken_gpus);
}

// Recordings of earlier programs do not have these lists.

template <typename BackOff, typename Field>
void each_field_of_back_off(BackOff& one, Field field) {
  field("job", one.job);
  field("until", one.until);
}

template <typename Cost, typename Field>
void each_field_of_cost(Cost& one, Field field) {
  field("job", one.job);
  field("dollars", one.dollars);
}

template <typename Metric, typename Field>
void each_field_of_metric(Metric& one, Field field) {
  field("time", one.time);
  field("job", one.job);
  field("name", one.name);
  field("value", one.value);
}

struct Writer {
  Json& json;
  const Symbols& symbols;

  void operator()(std::string_view name, double value) const { put(name, number_json(value)); }
  void operator()(std::string_view name, const GpuSet& value) const { put(name, gpus_text(value)); }
  void operator()(std::string_view name, Symbol value) const { put(name, symbols.text(value)); }
  void operator()(std::string_view name, const StageTimes& value) const {
    Json list = Json::array();
    for (const double time : value) list.push_back(number_json(time));
    put(name, std::move(list));
  }
  void operator()(std::string_view name, const std::vector<ValueStep>& value) const {
    Json list = Json::array();
    for (const ValueStep& step : value)
      list.push_back({number_json(step.by), number_json(step.value)});
    put(name, std::move(list));
  }
  template <typename Value>
  void operator()(std::string_view name, const Value& value) const {
    if constexpr (std::is_enum_v<Value>) {
      put(name, static_cast<std::uint32_t>(value));
    } else {
      put(name, value);
    }
  }

 private:
  void put(std::string_view name, Json value) const { json[std::string(name)] = std::move(value); }
};

struct Taker {
  const Json& json;
  Symbols& symbols;

  void operator()(std::string_view name, double& value) const { value = number_from(get(name)); }
  void operator()(std::string_view name, GpuSet& value) const {
    if (const auto gpus = parse_gpus(get(name).get<std::string>())) value = *gpus;
  }
  void operator()(std::string_view name, Symbol& value) const {
    value = symbols.intern(get(name).get<std::string>());
  }
  void operator()(std::string_view name, StageTimes& value) const {
    for (std::size_t i = 0; i < value.size(); ++i) value[i] = number_from(get(name).at(i));
  }
  void operator()(std::string_view name, std::vector<ValueStep>& value) const {
    for (const Json& step : get(name)) {
      value.push_back({number_from(step.at(0)), number_from(step.at(1))});
    }
  }
  template <typename Value>
  void operator()(std::string_view name, Value& value) const {
    if constexpr (std::is_enum_v<Value>) {
      value = static_cast<Value>(get(name).get<std::uint32_t>());
    } else {
      value = get(name).get<Value>();
    }
  }

 private:
  const Json& get(std::string_view name) const { return json.at(std::string(name)); }
};

}  // namespace

Json number_json(double value) {
  return std::isfinite(value) ? Json(value) : Json(exact_text(value));
}

double number_from(const Json& json) {
  if (!json.is_string()) return json.get<double>();
  return parse_real(json.get<std::string>()).value_or(std::nan(""));
}

Json to_json(const JobSpec& spec, const Symbols& symbols) {
  Json json = Json::object();
  const Writer write{json, symbols};
  write("id", spec.id);
  for (const RecordedField& field : recorded_job_fields()) {
    std::visit([&](auto member) { write(field.name, recorded_value(spec, member)); }, field.member);
  }
  return json;
}

JobSpec spec_from(const Json& json, Symbols& symbols) {
  JobSpec spec;
  const Taker take{json, symbols};
  take("id", spec.id);
  for (const RecordedField& field : recorded_job_fields()) {
    const auto read = [&](auto& value) { take(field.name, value); };
    std::visit([&](auto member) { change_recorded(spec, member, read); }, field.member);
  }
  return spec;
}

Json to_json(const JobEvent& event, const Symbols& symbols) {
  Json json = Json::object();
  each_field_of_event(event, Writer{json, symbols});
  return json;
}

JobEvent event_from(const Json& json, Symbols& symbols) {
  JobEvent event;
  each_field_of_event(event, Taker{json, symbols});
  return event;
}

Json to_json(const Decision& decision) {
  return {{"time", decision.time},
          {"job", static_cast<std::uint32_t>(decision.job)},
          {"other", static_cast<std::uint32_t>(decision.other)},
          {"gpus", decision.gpus},
          {"detail", decision.detail},
          {"action", std::string(action_name(decision.action))},
          {"reason", std::string(reason_name(decision.reason))}};
}

Json to_json(const EngineWorld& world, const Symbols& symbols) {
  Json jobs = Json::array();
  for (const Job& job : world.jobs) {
    Json one = {{"spec", to_json(job.spec, symbols)}};
    each_field_of_job(job, Writer{one, symbols});
    jobs.push_back(std::move(one));
  }
  Json nodes = Json::array();
  for (const WorldNode& node : world.nodes) {
    each_field_of_node(node, Writer{nodes.emplace_back(Json::object()), symbols});
  }
  Json back_offs = Json::array();
  for (const WorldBackOff& one : world.back_offs) {
    each_field_of_back_off(one, Writer{back_offs.emplace_back(Json::object()), symbols});
  }
  Json costs = Json::array();
  for (const WorldCost& one : world.costs) {
    each_field_of_cost(one, Writer{costs.emplace_back(Json::object()), symbols});
  }
  Json metrics = Json::array();
  for (const JobMetric& one : world.metrics) {
    each_field_of_metric(one, Writer{metrics.emplace_back(Json::object()), symbols});
  }
  Json on_hold = Json::array();
  for (const JobId job : world.on_hold) on_hold.push_back(static_cast<std::uint32_t>(job));
  return {{"now", world.now},       {"next_id", world.next_id},
          {"jobs", jobs},           {"on_hold", on_hold},
          {"back_offs", back_offs}, {"costs", costs},
          {"metrics", metrics},     {"nodes", nodes}};
}

EngineWorld world_from(const Json& json, Symbols& symbols) {
  EngineWorld world;
  world.now = json.at("now").get<double>();
  world.next_id = json.at("next_id").get<std::uint32_t>();
  for (const Json& one : json.at("jobs")) {
    Job& job = world.jobs.emplace_back();
    job.spec = spec_from(one.at("spec"), symbols);
    each_field_of_job(job, Taker{one, symbols});
  }
  for (const Json& job : json.at("on_hold")) {
    world.on_hold.push_back(JobId{job.get<std::uint32_t>()});
  }
  for (const Json& one : json.value("back_offs", Json::array())) {
    each_field_of_back_off(world.back_offs.emplace_back(), Taker{one, symbols});
  }
  for (const Json& one : json.value("costs", Json::array())) {
    each_field_of_cost(world.costs.emplace_back(), Taker{one, symbols});
  }
  for (const Json& one : json.value("metrics", Json::array())) {
    each_field_of_metric(world.metrics.emplace_back(), Taker{one, symbols});
  }
  for (const Json& node : json.at("nodes")) {
    each_field_of_node(world.nodes.emplace_back(), Taker{node, symbols});
  }
  return world;
}

}  // namespace muster
