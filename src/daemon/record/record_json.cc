#include "daemon/record/record_json.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "daemon/stored_rows.h"

namespace muster {
namespace {

using Json = nlohmann::json;

// The fields of each value, written down once for both directions: `field(name, member)`. Only what
// differs from the default is written.

template <typename Spec, typename Field>
void each_field_of_spec(Spec& spec, Field field) {
  field("id", spec.id);
  field("submit", spec.submit);
  field("arrival", spec.arrival);
  field("duration", spec.duration);
  field("gpus", spec.gpus);
  field("min_gpus", spec.min_gpus);
  field("max_gpus", spec.max_gpus);
  field("deadline", spec.deadline);
  field("estimate", spec.estimate);
  field("cpus", spec.cpus);
  field("memory_gb", spec.memory_gb);
  field("iterations", spec.iterations);
  field("believed", spec.believed);
  field("batch_size", spec.batch_size);
  field("priority", spec.priority);
  field("model", spec.model);
  field("user", spec.user);
  field("partition", spec.partition);
  field("gpu_type", spec.gpu_type);
  field("name", spec.name);
}

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
}

template <typename OneJob, typename Field>
void each_field_of_job(OneJob& job, Field field) {
  field("state", job.state);
  field("total_work", job.total_work);
  field("work", job.work);
  field("rate", job.rate);
  field("since", job.since);
  field("saved_work", job.saved_work);
  field("gpus", job.gpus);
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
  field("start_order", job.start_order);
}

struct Writer {
  Json& json;
  const Symbols* symbols = nullptr;

  void operator()(const char* name, double value) const {
    // JSON has no infinity.
    json[name] = std::isfinite(value) ? Json(value) : Json("never");
  }
  void operator()(const char* name, bool value) const { json[name] = value; }
  void operator()(const char* name, int value) const { json[name] = value; }
  void operator()(const char* name, std::uint32_t value) const { json[name] = value; }
  void operator()(const char* name, const std::string& value) const { json[name] = value; }
  void operator()(const char* name, const GpuSet& value) const { json[name] = gpus_text(value); }
  void operator()(const char* name, Symbol value) const { json[name] = symbols->text(value); }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void operator()(const char* name, Enum value) const {
    json[name] = static_cast<std::uint32_t>(value);
  }
};

struct Taker {
  const Json& json;
  Symbols* symbols = nullptr;

  void operator()(const char* name, double& value) const {
    const Json& field = json.at(name);
    value = field.is_string() ? kNever : field.get<double>();
  }
  void operator()(const char* name, bool& value) const { value = json.at(name).get<bool>(); }
  void operator()(const char* name, int& value) const { value = json.at(name).get<int>(); }
  void operator()(const char* name, std::uint32_t& value) const {
    value = json.at(name).get<std::uint32_t>();
  }
  void operator()(const char* name, std::string& value) const {
    value = json.at(name).get<std::string>();
  }
  void operator()(const char* name, GpuSet& value) const {
    if (const auto gpus = parse_gpus(json.at(name).get<std::string>())) value = *gpus;
  }
  void operator()(const char* name, Symbol& value) const {
    value = symbols->intern(json.at(name).get<std::string>());
  }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void operator()(const char* name, Enum& value) const {
    value = static_cast<Enum>(json.at(name).get<std::uint32_t>());
  }
};

}  // namespace

Json to_json(const JobSpec& spec, const Symbols& symbols) {
  Json json = Json::object();
  each_field_of_spec(spec, Writer{json, &symbols});
  return json;
}

JobSpec spec_from(const Json& json, Symbols& symbols) {
  JobSpec spec;
  each_field_of_spec(spec, Taker{json, &symbols});
  return spec;
}

Json to_json(const JobEvent& event) {
  Json json = Json::object();
  each_field_of_event(event, Writer{json});
  return json;
}

JobEvent event_from(const Json& json) {
  JobEvent event;
  each_field_of_event(event, Taker{json});
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
    each_field_of_job(job, Writer{one});
    jobs.push_back(std::move(one));
  }
  Json drained = Json::array();
  for (const WorldNode& node : world.nodes) {
    if (node.drained) drained.push_back(static_cast<std::uint32_t>(node.node));
  }
  Json on_hold = Json::array();
  for (const JobId job : world.on_hold) on_hold.push_back(static_cast<std::uint32_t>(job));
  return {{"now", world.now},
          {"next_id", world.next_id},
          {"jobs", jobs},
          {"on_hold", on_hold},
          {"drained", drained}};
}

EngineWorld world_from(const Json& json, Symbols& symbols) {
  EngineWorld world;
  world.now = json.at("now").get<double>();
  world.next_id = json.at("next_id").get<std::uint32_t>();
  for (const Json& one : json.at("jobs")) {
    Job& job = world.jobs.emplace_back();
    job.spec = spec_from(one.at("spec"), symbols);
    each_field_of_job(job, Taker{one});
  }
  for (const Json& job : json.at("on_hold")) {
    world.on_hold.push_back(JobId{job.get<std::uint32_t>()});
  }
  for (const Json& node : json.at("drained")) {
    WorldNode& drained = world.nodes.emplace_back();
    drained.node = NodeId{node.get<std::uint32_t>()};
    drained.drained = true;
  }
  return world;
}

}  // namespace muster
