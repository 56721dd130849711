// The API's answers, as schemas. A test calls every route of a real daemon and checks the answers
// against them.
#include "daemon/api/openapi_schemas.h"

namespace muster {
namespace {

using Json = nlohmann::ordered_json;

Json of(const char* type, const char* sentence = "") {
  Json schema = {{"type", type}};
  if (*sentence != '\0') schema["description"] = sentence;
  return schema;
}

// Null if it has not happened or is unknown.
Json or_null(Json schema) {
  schema["nullable"] = true;
  return schema;
}

Json list_of(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }
Json map_of(Json values) { return {{"type", "object"}, {"additionalProperties", values}}; }
Json ref(const char* name) { return {{"$ref", std::string("#/components/schemas/") + name}}; }

// Everything is always there, except for what is `optional`.
Json object(Json properties, const Json& optional = Json::object()) {
  Json required = Json::array();
  for (const auto& [name, schema] : properties.items()) required.push_back(name);
  for (const auto& [name, schema] : optional.items()) properties[name] = schema;
  return {{"type", "object"}, {"properties", std::move(properties)}, {"required", required}};
}

Json moment() { return of("number", "seconds since 1970"); }

Json job_fields() {
  return {{"id", of("integer")},
          {"name", of("string")},
          {"owner", of("string")},
          {"state", of("string", "as in results of simulations")},
          {"gpus", of("integer")},
          {"submitted", moment()},
          {"started", or_null(moment())},
          {"ended", or_null(moment())},
          {"launches", of("integer")},
          {"reason", of("string", "of the last that was decided about it")},
          {"priority", of("integer")},
          {"partition", of("string")},
          {"preemptions", of("integer")},
          {"resizes", of("integer")},
          {"placement", ref("Placement")},
          {"launch_state", or_null(of("string", "of the last launch"))},
          {"exit_code", or_null(of("integer", "of the last launch"))},
          {"progress", or_null(object({{"step", of("number")},
                                       {"total", or_null(of("number"))},
                                       {"saved_step", or_null(of("number"))},
                                       {"steps_per_second", of("number")},
                                       {"metrics", map_of(of("number"))}}))}};
}

Json detailed_job() {
  Json fields = job_fields();
  fields.update({{"command", list_of(of("string"))},
                 {"working_directory", of("string")},
                 {"gpu_type", of("string")},
                 {"min_gpus", of("integer")},
                 {"max_gpus", of("integer")},
                 {"deadline", or_null(moment())},
                 {"time_limit", or_null(of("number"))},
                 {"held_seconds", of("number", "with GPUs, over all launches")},
                 {"gpu_seconds", of("number")},
                 {"waited_seconds", of("number")},
                 {"restarts", of("integer")},
                 {"crashes", of("integer")},
                 {"runs", list_of(ref("Run"))}});
  return object(fields);
}

Json run() {
  return object({{"launch", of("integer")},
                 {"state", of("string")},
                 {"placement", ref("Placement")},
                 {"shared", of("boolean", "whether others may be on its GPUs")},
                 {"planned", moment()},
                 {"started", or_null(moment())},
                 {"ended", or_null(moment())},
                 {"outcome", or_null(of("string"))},
                 {"exit_code", or_null(of("integer"))},
                 {"saved_step", or_null(of("number"))},
                 {"detail", of("string")}});
}

Json status() {
  return object({{"version", of("string")},
                 {"process", of("integer")},
                 {"state", of("string", "its folder")},
                 {"generation", of("integer", "how often a daemon was started on the folder")},
                 {"executor", of("string")},
                 {"started", moment()},
                 {"gpus", of("integer")},
                 {"gpus_in_use", of("integer")},
                 {"jobs", map_of(of("integer"))},
                 {"policy", of("string")},
                 {"partitions", list_of(of("string"))},
                 {"gpu_types", list_of(of("string"))},
                 {"safe_mode", of("boolean")},
                 {"trouble", of("string", "what keeps it from working; empty: nothing")}});
}

Json node() {
  const Json use = object({{"gpu", of("integer")},
                           {"name", of("string")},
                           {"busy", or_null(of("number"))},
                           {"memory_used_bytes", or_null(of("number"))},
                           {"memory_bytes", of("number")},
                           {"watts", or_null(of("number"))}});
  return object({{"name", of("string")},
                 {"gpu_type", of("string")},
                 {"gpus", of("integer")},
                 {"used", of("integer")},
                 {"drained", of("boolean")},
                 {"up", of("boolean")},
                 {"reason", of("string")},
                 {"jobs", list_of(list_of(or_null(of("integer", "null: another user's"))))}},
                {{"gpu_use", list_of(use)}});
}

Json story() {
  return object(
      {{"id", of("integer")},
       {"state", of("string")},
       {"reason", of("string")},
       {"over", of("boolean")},
       {"held", of("boolean")},
       {"gpus", of("integer")},
       {"free_gpus", of("integer")},
       {"usable_gpus", of("integer")},
       {"policy", of("string")},
       {"jobs_before", or_null(of("integer", "number of waiting jobs that will start before it"))},
       {"first_before", list_of(of("integer"))},
       {"launches",
        list_of(object(
            {{"launch", of("integer")}, {"state", of("string")}, {"detail", of("string")}}))},
       {"expected_start", or_null(of("number", "seconds from now"))},
       {"expected_start_early", or_null(of("number"))},
       {"expected_start_late", or_null(of("number"))},
       {"decisions", list_of(object({{"after", of("number")}, {"text", of("string")}}))}});
}

Json outlook() {
  const Json job = object({{"job", of("string")},
                           {"number", of("integer")},
                           {"state", of("string")},
                           {"gpus", of("integer")},
                           {"submit_s", of("number")},
                           {"start_s", ref("Band")},
                           {"end_s", ref("Band")}},
                          {{"refused", of("string", "why it would never run")},
                           {"stuck", of("string", "why no end of it is predicted")}});
  return object({{"completion_time_s", ref("Band")},
                 {"last_end_s", ref("Band")},
                 {"unfinished", of("integer")},
                 {"jobs", list_of(job)}});
}

Json token() {
  return object({{"name", of("string")},
                 {"user", of("string")},
                 {"role", of("string")},
                 {"created", moment()},
                 {"expires", moment()},
                 {"expired", of("boolean")}});
}

}  // namespace

nlohmann::ordered_json answer_schemas() {
  return {
      {"Done", object({{"done", of("boolean")}})},
      {"Submitted", object({{"id", of("integer")}}, {{"notes", list_of(of("string"))}})},
      {"Status", status()},
      {"Placement", list_of(object({{"node", of("string")}, {"gpus", list_of(of("integer"))}}))},
      {"Job", object(job_fields())},
      {"Jobs", list_of(ref("Job"))},
      {"Run", run()},
      {"DetailedJob", detailed_job()},
      {"Story", story()},
      {"Nodes", list_of(node())},
      {"Band", object({{"believed", or_null(of("number"))},
                       {"early", or_null(of("number"))},
                       {"late", or_null(of("number"))}})},
      {"Outlook", outlook()},
      {"Answer", object({{"now_s", of("number")}, {"as_is", ref("Outlook")}},
                        {{"changed", ref("Outlook")}, {"drained_s", of("number")}})},
      {"Tokens", list_of(token())},
      {"NewToken", object({{"token", of("string")}})},
      {"Description", {{"type", "object"}}},
      {"Error", object({{"error", of("string")}})},
  };
}

}  // namespace muster
