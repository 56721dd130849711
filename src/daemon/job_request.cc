#include "daemon/job_request.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "model/gpu_set.h"

namespace muster {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostArguments = 4096;
constexpr std::size_t kMostVariables = 1024;
constexpr std::size_t kMostText = 128 << 10;  // of one argument or variable: the kernel's own limit
constexpr std::size_t kMostName = 256;
constexpr double kLongTime = 1e9;  // thirty years

bool plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
}

// Takes fields out of an object, one after the other; keeps the first complaint.
class Taker {
 public:
  explicit Taker(const Json& object) : object_(object) {}

  const Json* find(const char* name) {
    known_.insert(name);
    const auto found = object_.find(name);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  void wrong(std::string what) {
    if (error_.empty()) error_ = std::move(what);
  }

  // A name for people and programs: one short line.
  void word(const char* name, std::string& value) {
    const Json* field = find(name);
    if (field == nullptr) return;
    if (!field->is_string()) return wrong(fmt::format("'{}' is not text", name));
    value = field->get<std::string>();
    if (value.size() > kMostName || !plain(value)) {
      wrong(fmt::format("'{}' is longer than {} bytes or has control characters", name, kMostName));
    }
  }
  void path(const char* name, std::string& value) {
    const Json* field = find(name);
    if (field == nullptr) return;
    if (!field->is_string()) return wrong(fmt::format("'{}' is not text", name));
    value = field->get<std::string>();
    if (value.empty()) return;
    if (!value.starts_with('/') || value.size() > 4096 || value.find('\0') != std::string::npos) {
      wrong(fmt::format("'{}' is not an absolute path", name));
    }
  }
  void real(const char* name, double& value, double least, double most) {
    const Json* field = find(name);
    if (field == nullptr) return;
    if (!field->is_number()) return wrong(fmt::format("'{}' is not a number", name));
    value = field->get<double>();
    if (!(value >= least && value <= most)) {
      wrong(fmt::format("'{}' is {}; it must lie between {} and {}", name, value, least, most));
    }
  }
  void whole(const char* name, int& value, int least, int most) {
    const Json* field = find(name);
    if (field == nullptr) return;
    double number = 0;
    real(name, number, least, most);
    if (number != std::floor(number)) wrong(fmt::format("'{}' is not a whole number", name));
    if (error_.empty()) value = static_cast<int>(number);
  }
  void flag(const char* name, bool& value) {
    const Json* field = find(name);
    if (field == nullptr) return;
    if (!field->is_boolean()) return wrong(fmt::format("'{}' is neither true nor false", name));
    value = field->get<bool>();
  }

  std::string finish() {
    for (const auto& [name, value] : object_.items()) {
      if (!error_.empty() || known_.contains(name)) continue;
      const std::vector<std::string_view> names(known_.begin(), known_.end());
      error_ = unknown_name("field", name.substr(0, 64), names);
    }
    return error_;
  }

 private:
  const Json& object_;
  std::set<std::string_view> known_;
  std::string error_;
};

void take_command(Taker& from, std::vector<std::string>& command) {
  const Json* list = from.find("command");
  if (list == nullptr || !list->is_array() || list->empty()) {
    return from.wrong("'command' must be a list: the program and its arguments");
  }
  if (list->size() > kMostArguments) {
    return from.wrong(fmt::format("'command' has more than {} arguments", kMostArguments));
  }
  for (const Json& item : *list) {
    if (!item.is_string()) return from.wrong("'command' holds something that is not text");
    const std::string& word = command.emplace_back(item.get<std::string>());
    if (word.size() > kMostText || word.find('\0') != std::string::npos) {
      return from.wrong("'command' has an argument that is too long or has a zero byte");
    }
  }
  if (command[0].empty()) from.wrong("'command' begins with an empty name");
}

void take_environment(Taker& from, std::vector<std::pair<std::string, std::string>>& variables) {
  const Json* object = from.find("environment");
  if (object == nullptr) return;
  if (!object->is_object()) return from.wrong("'environment' is not an object of names and values");
  if (object->size() > kMostVariables) {
    return from.wrong(fmt::format("'environment' has more than {} variables", kMostVariables));
  }
  for (const auto& [name, value] : object->items()) {
    if (name.empty() || name.size() > kMostName || name.find('=') != std::string::npos ||
        !plain(name)) {
      return from.wrong("'environment' has a name that cannot be that of a variable");
    }
    if (!value.is_string()) return from.wrong(fmt::format("the variable '{}' is not text", name));
    std::string text = value.get<std::string>();
    if (text.size() > kMostText || text.find('\0') != std::string::npos) {
      return from.wrong(fmt::format("the variable '{}' is too long or has a zero byte", name));
    }
    variables.emplace_back(name, std::move(text));
  }
}

// Without the time of a step, that is the sum of its stages: that ignores a possible overlap.
void take_stages(Taker& from, JobRequest& request) {
  from.real("step_ms", request.step_ms, 0, kLongTime);
  const Json* object = from.find("stage_ms");
  if (object == nullptr) return;
  if (!object->is_object()) {
    return from.wrong(
        "'stage_ms' is not an object of storage, cpu, gpu and network, in milliseconds");
  }
  if (object->empty()) return;
  Taker stages(*object);
  double sum = 0;
  for (std::size_t i = 0; i < kStages; ++i) {
    stages.real(kStageNames[i], request.stage_ms[i], 0, kLongTime);
    sum += request.stage_ms[i];
  }
  if (std::string error = stages.finish(); !error.empty())
    return from.wrong("'stage_ms': " + error);
  if (!(sum > 0)) return from.wrong("'stage_ms': at least one stage must be above 0");
  if (request.step_ms == 0) request.step_ms = sum;
}

std::string check_sizes(const JobRequest& request) {
  if (request.min_gpus == 0 && request.max_gpus == 0) return {};
  if (request.min_gpus < 1 || request.min_gpus > request.gpus || request.max_gpus < request.gpus) {
    return fmt::format("a range of GPUs goes from at least 1 over 'gpus' to 'max_gpus': {}, {}, {}",
                       request.min_gpus, request.gpus, request.max_gpus);
  }
  return {};
}

}  // namespace

Result<JobRequest> parse_job_request(std::string_view json) {
  const Json object = Json::parse(json, nullptr, false);
  if (object.is_discarded()) return Error{"the request is not JSON"};
  if (!object.is_object()) return Error{"the request is not a JSON object"};
  JobRequest request;
  Taker from(object);
  constexpr int kMostGpus = 100'000;
  take_command(from, request.command);
  take_environment(from, request.environment);
  from.word("name", request.name);
  from.whole("gpus", request.gpus, 1, kMostGpus);
  from.whole("min_gpus", request.min_gpus, 0, kMostGpus);
  from.whole("max_gpus", request.max_gpus, 0, kMostGpus);
  from.whole("max_nodes", request.max_nodes, 0, kMostGpus);
  from.word("gpu_type", request.gpu_type);
  from.word("partition", request.partition);
  from.word("model", request.model);
  from.whole("priority", request.priority, -1'000'000, 1'000'000);
  from.real("deadline", request.deadline, 0, kLongTime);
  from.real("time_limit", request.time_limit, 0, kLongTime);
  from.real("estimate", request.estimate, 0, kLongTime);
  from.real("iterations", request.iterations, 0, 1e15);
  take_stages(from, request);
  from.whole("batch_size", request.batch_size, 0, 1'000'000'000);
  from.real("cpus", request.cpus, 0, 1e6);
  from.real("memory_gb", request.memory_gb, 0, 1e6);
  from.whole("retries", request.retries, 0, 1'000'000);
  from.real("grace", request.grace, 0, 86400);
  from.flag("process_per_gpu", request.process_per_gpu);
  from.flag("hold", request.hold);
  from.path("working_directory", request.working_directory);
  from.path("checkpoint_directory", request.checkpoint_directory);
  from.word("request", request.request);
  from.word("origin", request.origin);
  from.word("unfit", request.unfit);
  if (std::string error = from.finish(); !error.empty()) return Error{error};
  if (std::string error = check_sizes(request); !error.empty()) return Error{error};
  if (request.working_directory.empty()) request.working_directory = "/";
  return request;
}

std::string job_request_text(const JobRequest& request) {
  Json json = {{"command", request.command},
               {"gpus", request.gpus},
               {"working_directory", request.working_directory}};
  const JobRequest usual;
  const auto put = [&json](const char* name, const auto& value, const auto& otherwise) {
    if (value != otherwise) json[name] = value;
  };
  put("name", request.name, usual.name);
  put("min_gpus", request.min_gpus, usual.min_gpus);
  put("max_gpus", request.max_gpus, usual.max_gpus);
  put("max_nodes", request.max_nodes, usual.max_nodes);
  put("gpu_type", request.gpu_type, usual.gpu_type);
  put("partition", request.partition, usual.partition);
  put("model", request.model, usual.model);
  put("priority", request.priority, usual.priority);
  put("deadline", request.deadline, usual.deadline);
  put("time_limit", request.time_limit, usual.time_limit);
  put("estimate", request.estimate, usual.estimate);
  put("iterations", request.iterations, usual.iterations);
  put("batch_size", request.batch_size, usual.batch_size);
  put("cpus", request.cpus, usual.cpus);
  put("memory_gb", request.memory_gb, usual.memory_gb);
  put("retries", request.retries, usual.retries);
  put("grace", request.grace, usual.grace);
  put("process_per_gpu", request.process_per_gpu, usual.process_per_gpu);
  put("hold", request.hold, usual.hold);
  put("checkpoint_directory", request.checkpoint_directory, usual.checkpoint_directory);
  put("request", request.request, usual.request);
  put("origin", request.origin, usual.origin);
  put("step_ms", request.step_ms, usual.step_ms);
  for (std::size_t i = 0; i < kStages; ++i) {
    if (request.stage_ms[i] > 0) json["stage_ms"][kStageNames[i]] = request.stage_ms[i];
  }
  put("unfit", request.unfit, usual.unfit);
  for (const auto& [name, value] : request.environment) json["environment"][name] = value;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace muster
