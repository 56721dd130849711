// The description of the API, made from the table of routes; tests compare its fields with what is
// read and written.
#include <array>
#include <span>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "daemon/api/api.h"
#include "daemon/api/openapi_schemas.h"
#include "daemon/job_request.h"

namespace muster {
namespace {

using Json = nlohmann::ordered_json;

struct Field {
  const char* name;
  const char* type;
  const char* sentence;
};

constexpr std::array kSubmission = {
    Field{"command", "array", "the program and its arguments; no shell sees them"},
    Field{"name", "string", "for people"},
    Field{"gpus", "integer", "GPUs; 1 where it is not given"},
    Field{"min_gpus", "integer", "least GPUs, for policies that resize"},
    Field{"max_gpus", "integer", "most GPUs, for policies that resize"},
    Field{"max_nodes", "integer", "a start on more nodes is given up; for clusters"},
    Field{"gpu_type", "string", "only GPUs of this type"},
    Field{"partition", "string", "partition of the cluster"},
    Field{"model", "string", "what it trains, for performance models"},
    Field{"priority", "integer", "larger is more important"},
    Field{"deadline", "number", "seconds after its submission"},
    Field{"time_limit", "number", "seconds with GPUs, over all launches"},
    Field{"estimate", "number", "seconds that its owner believes it takes"},
    Field{"iterations", "number", "training steps in all"},
    Field{"step_ms", "number",
          "milliseconds of a training step, alone; by default its stages' sum"},
    Field{"stage_ms", "object", "milliseconds of its stages, for policies that interleave"},
    Field{"batch_size", "integer", "for policies that scale it"},
    Field{"cpus", "number", "CPU cores for the whole job"},
    Field{"memory_gb", "number", "gigabytes for the whole job"},
    Field{"retries", "integer", "how often it may fail by itself"},
    Field{"grace", "number", "seconds to save its work when it loses its GPUs"},
    Field{"process_per_gpu", "boolean", "one process for each GPU; else one that has them all"},
    Field{"hold", "boolean", "not to be started before it is released"},
    Field{"working_directory", "string", "an absolute path"},
    Field{"checkpoint_directory", "string", "given to it as MUSTER_CHECKPOINT_DIR"},
    Field{"environment", "object", "its variables, by name"},
    Field{"request", "string", "the same id again gives the same job: a retry is safe"},
};

constexpr std::array kQuestion = {
    Field{"jobs", "array", "jobs to tell of in the text, by name or number (#12)"},
    Field{"scheduling", "string", "another scheduling policy, as on the command line"},
    Field{"placement", "string", "another placement policy"},
    Field{"admission", "string", "another admission policy"},
    Field{"add_nodes", "string", "more nodes, as in 2x8"},
    Field{"drain", "array", "nodes that take nothing new: node=3, rack=1 or partition=NAME"},
    Field{"submit", "array", "one more job each, as in gpus=4,duration=3600"},
    Field{"errors", "string", "how wrong beliefs are, as in log-normal:sigma=1"},
    Field{"samples", "integer", "futures drawn for the ranges"},
    Field{"horizon", "number", "look no further ahead than so many seconds"},
};

// Lists are of strings, all of them.
Json properties_of(std::span<const Field> fields) {
  Json properties = Json::object();
  for (const Field& field : fields) {
    Json& property = properties[field.name];
    property = {{"type", field.type}, {"description", field.sentence}};
    if (std::string_view(field.type) == "array") property["items"] = {{"type", "string"}};
  }
  return properties;
}

Json schema_of_question() {
  Json properties = properties_of(kQuestion);
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", properties}};
}

Json schema_of_submission() {
  Json properties = properties_of(kSubmission);
  for (const char* stage : kStageNames) {
    properties["stage_ms"]["properties"][stage] = {{"type", "number"}, {"minimum", 0}};
  }
  properties["stage_ms"]["additionalProperties"] = false;
  properties["environment"]["additionalProperties"] = {{"type", "string"}};
  return {{"type", "object"},
          {"required", {"command"}},
          {"additionalProperties", false},
          {"properties", properties}};
}

Json schema_of_token_request() {
  return {{"type", "object"},
          {"additionalProperties", false},
          {"properties",
           {{"user", {{"type", "string"}, {"description", "whose; by default the caller's"}}},
            {"role", {{"type", "string"}, {"enum", {"user", "operator"}}}},
            {"days", {{"type", "number"}, {"description", "how long it is good; 90"}}}}}};
}

constexpr std::array kChange = {
    Field{"priority", "integer", "larger is more important"},
    Field{"gpus", "integer", "GPUs"},
    Field{"estimate", "number", "seconds that its owner believes it takes"},
    Field{"deadline", "number", "seconds after its submission"},
};

Json schema_of_change() {
  Json properties = properties_of(kChange);
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", properties}};
}

Json schema_of_ending() {
  return {
      {"type", "object"},
      {"additionalProperties", false},
      {"properties", {{"drain", {{"type", "boolean"}, {"description", "stop all jobs first"}}}}}};
}

Json parameters_of(const ApiRoute& route) {
  Json list = Json::array();
  const std::size_t brace = route.path.find('{');
  if (brace != std::string_view::npos) {
    const std::string name(route.path.substr(brace + 1, route.path.find('}') - brace - 1));
    list.push_back({{"name", name},
                    {"in", "path"},
                    {"required", true},
                    {"schema", {{"type", name == "id" ? "integer" : "string"}}}});
  }
  for (const ApiParameter& parameter : route.query) {
    list.push_back({{"name", std::string(parameter.name)},
                    {"in", "query"},
                    {"description", std::string(parameter.sentence)},
                    {"schema", {{"type", std::string(parameter.type)}}}});
  }
  return list;
}

Json content_of(std::string_view schema) {
  if (schema.empty()) return {{"text/plain", {{"schema", {{"type", "string"}}}}}};
  const std::string reference = "#/components/schemas/" + std::string(schema);
  return {{"application/json", {{"schema", {{"$ref", reference}}}}}};
}

Json operation_of(const ApiRoute& route) {
  Json operation = {{"summary", std::string(route.sentence)}};
  if (route.operators_only) operation["description"] = "For operators.";
  if (Json parameters = parameters_of(route); !parameters.empty()) {
    operation["parameters"] = parameters;
  }
  if (!route.body.empty()) {
    const bool required = route.body == "Submission" || route.body == "Change";
    operation["requestBody"] = {{"required", required}, {"content", content_of(route.body)}};
  }
  const bool makes = route.answer == "Submitted" || route.answer == "NewToken";
  const Json done = {{"description", "done"}, {"content", content_of(route.answer)}};
  operation["responses"] = {{makes ? "201" : "200", done}};
  // The same request id again.
  if (route.answer == "Submitted") operation["responses"]["200"] = done;
  operation["responses"]["default"] = {{"description", "refused; `error` says why"},
                                       {"content", content_of("Error")}};
  return operation;
}

}  // namespace

std::string openapi_document(std::span<const ApiRoute> routes) {
  Json paths = Json::object();
  for (const ApiRoute& route : routes) {
    std::string method(route.method);
    for (char& letter : method) letter = static_cast<char>(letter - 'A' + 'a');
    paths[std::string(route.path)][method] = operation_of(route);
  }
  Json schemas = answer_schemas();
  schemas["Submission"] = schema_of_submission();
  schemas["Question"] = schema_of_question();
  schemas["TokenRequest"] = schema_of_token_request();
  schemas["Change"] = schema_of_change();
  schemas["Ending"] = schema_of_ending();
  const Json document = {
      {"openapi", "3.0.3"},
      {"info",
       {{"title", "Muster"},
        {"version", "1"},
        {"description",
         "Over the Unix socket api.sock in the state folder; the caller is identified by the "
         "socket's "
         "peer credentials. Where the daemon listens on the network, over HTTPS with a token."}}},
      {"security", {{{"token", Json::array()}}}},
      {"paths", paths},
      {"components",
       {{"securitySchemes",
         {{"token",
           {{"type", "http"},
            {"scheme", "bearer"},
            {"description", "from `muster token create`; not needed on the Unix socket"}}}}},
        {"schemas", schemas}}}};
  return document.dump(1) + "\n";
}

}  // namespace muster
