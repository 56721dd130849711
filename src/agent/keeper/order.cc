#include "agent/keeper/order.h"

#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace muster {
namespace {

using Json = nlohmann::json;

// Takes fields out of an object, and remembers the first thing that was wrong.
class Fields {
 public:
  Fields(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) wrong("expected an object");
  }

  void take(const char* name, std::string& value) {
    const Json* found = find(name);
    if (found == nullptr) return;
    if (!found->is_string()) return wrong(fmt::format("'{}' is not text", name));
    value = found->get<std::string>();
    if (value.find('\0') != std::string::npos) wrong(fmt::format("'{}' has a zero byte", name));
  }
  template <typename Number>
  void take(const char* name, Number& value, double least, double most) {
    const Json* found = find(name);
    if (found == nullptr) return;
    if (!(std::is_integral_v<Number> ? found->is_number_integer() : found->is_number())) {
      return wrong(fmt::format("'{}' is not a {}", name,
                               std::is_integral_v<Number> ? "whole number" : "number"));
    }
    const auto number = found->get<double>();
    if (!(number >= least && number <= most)) {
      return wrong(fmt::format("'{}' is {}; expected {} to {}", name, number, least, most));
    }
    value = found->get<Number>();
  }
  void take(const char* name, std::vector<int>& values, int most) {
    const Json* found = find(name);
    if (found == nullptr) return;
    if (!found->is_array()) return wrong(fmt::format("'{}' is not a list", name));
    for (const Json& item : *found) {
      if (!item.is_number_unsigned() || item.get<std::uint64_t>() > static_cast<unsigned>(most)) {
        return wrong(fmt::format("'{}' holds {}; expected 0 to {}", name, item.dump(), most));
      }
      values.push_back(item.get<int>());
    }
  }
  const Json* find(const char* name) {
    known_.insert(name);
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  void wrong(const std::string& what) {
    if (error_.empty()) error_ = where_ + ": " + what;
  }
  // After all fields have been taken.
  std::string error() {
    if (object_.is_object()) {
      for (const auto& [name, value] : object_.items()) {
        if (!known_.contains(name)) wrong(fmt::format("unknown field '{}'", name));
      }
    }
    return error_;
  }

 private:
  const Json& object_;
  std::string where_;
  std::string error_;
  std::set<std::string> known_;
};

std::string take_ranks(Fields& fields, std::vector<KeeperRank>& ranks) {
  const Json* list = fields.find("ranks");
  if (list == nullptr || !list->is_array() || list->empty()) {
    return "order: 'ranks' is not a list of at least one rank";
  }
  for (const Json& item : *list) {
    KeeperRank& rank = ranks.emplace_back();
    Fields of_rank(item, fmt::format("order: rank {}", ranks.size() - 1));
    of_rank.take("rank", rank.rank, 0, 1e6);
    of_rank.take("local_rank", rank.local_rank, 0, 1e6);
    of_rank.take("gpus", rank.gpus, 1023);
    of_rank.take("cpus", rank.cpus, 1023);
    if (std::string error = of_rank.error(); !error.empty()) return error;
  }
  return {};
}

std::string take_identity(Fields& fields, std::optional<Identity>& identity) {
  const Json* object = fields.find("identity");
  if (object == nullptr) return {};
  Fields of_user(*object, "order: identity");
  constexpr double kMostIds = 4294967294.0;
  identity.emplace();
  // Root does not become root: without a number it is no valid identity.
  of_user.take("user", identity->user, 1, kMostIds);
  of_user.take("group", identity->group, 0, kMostIds);
  if (identity->user == 0) of_user.wrong("'user' is missing");
  const Json* groups = of_user.find("groups");
  if (groups == nullptr || !groups->is_array()) {
    of_user.wrong("'groups' is not a list");
  } else {
    for (const Json& group : *groups) {
      if (!group.is_number_unsigned() || group.get<std::uint64_t>() > 4294967294U) {
        of_user.wrong("'groups' holds something that is not a group");
        break;
      }
      identity->groups.push_back(group.get<gid_t>());
    }
  }
  return of_user.error();
}

void take_command(Fields& fields, std::vector<std::string>& command) {
  const Json* list = fields.find("command");
  if (list == nullptr || !list->is_array() || list->empty()) {
    return fields.wrong("'command' is not a list of a program and its arguments");
  }
  for (const Json& item : *list) {
    if (!item.is_string()) return fields.wrong("'command' holds something that is not text");
    command.push_back(item.get<std::string>());
    if (command.back().find('\0') != std::string::npos) {
      return fields.wrong("'command' has a zero byte");
    }
  }
  if (command[0].empty()) fields.wrong("'command' begins with an empty name");
}

void take_environment(Fields& fields, std::vector<std::pair<std::string, std::string>>& variables) {
  const Json* object = fields.find("environment");
  if (object == nullptr) return;
  if (!object->is_object()) return fields.wrong("'environment' is not an object");
  for (const auto& [name, value] : object->items()) {
    if (name.empty() || name.find('=') != std::string::npos ||
        name.find('\0') != std::string::npos) {
      return fields.wrong(fmt::format("'{}' cannot be the name of a variable", name));
    }
    if (!value.is_string() || value.get<std::string>().find('\0') != std::string::npos) {
      return fields.wrong(fmt::format("the variable '{}' is not text without zero bytes", name));
    }
    variables.emplace_back(name, value.get<std::string>());
  }
}

}  // namespace

std::string order_text(const KeeperOrder& order) {
  Json ranks = Json::array();
  for (const KeeperRank& rank : order.ranks) {
    ranks.push_back({{"rank", rank.rank},
                     {"local_rank", rank.local_rank},
                     {"gpus", rank.gpus},
                     {"cpus", rank.cpus}});
  }
  Json environment = Json::object();
  for (const auto& [name, value] : order.environment) environment[name] = value;
  Json json = {{"version", 1},
               {"job", order.job},
               {"launch", order.launch},
               {"generation", order.generation},
               {"nodes", order.nodes},
               {"world_size", order.world_size},
               {"master_address", order.master_address},
               {"master_port", order.master_port},
               {"ranks", ranks},
               {"command", order.command},
               {"environment", environment},
               {"working_directory", order.working_directory},
               {"stop_signal", order.stop_signal},
               {"grace_seconds", order.grace_seconds},
               {"prepare_seconds", order.prepare_seconds},
               {"fence_seconds", order.fence_seconds},
               {"log_bytes", order.log_bytes},
               {"log_files", order.log_files},
               {"cgroup", order.cgroup},
               {"memory_bytes", order.memory_bytes},
               {"cores", order.cores}};
  if (order.identity) {
    json["identity"] = {{"user", order.identity->user},
                        {"group", order.identity->group},
                        {"groups", order.identity->groups}};
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<KeeperOrder> parse_order(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return Error{"order: not JSON"};
  if (!json.is_object()) return Error{"order: expected an object"};
  KeeperOrder order;
  Fields fields(json, "order");
  int version = 0;
  fields.take("version", version, 0, 1e9);
  if (version != 1) fields.wrong(fmt::format("version {}; this keeper knows version 1", version));
  fields.take("job", order.job, 0, 4294967295.0);
  fields.take("launch", order.launch, 0, 4294967295.0);
  fields.take("generation", order.generation, 0, 9e15);
  fields.take("nodes", order.nodes, 1, 1e6);
  fields.take("world_size", order.world_size, 1, 1e6);
  fields.take("master_address", order.master_address);
  fields.take("master_port", order.master_port, 0, 65535);
  take_command(fields, order.command);
  take_environment(fields, order.environment);
  fields.take("working_directory", order.working_directory);
  fields.take("stop_signal", order.stop_signal, 1, 64);
  fields.take("grace_seconds", order.grace_seconds, 0, 1e7);
  fields.take("prepare_seconds", order.prepare_seconds, 0, 1e7);
  fields.take("fence_seconds", order.fence_seconds, 0, 1e7);
  fields.take("log_bytes", order.log_bytes, 1024, 1e15);
  fields.take("log_files", order.log_files, 1, 1000);
  fields.take("cgroup", order.cgroup);
  fields.take("memory_bytes", order.memory_bytes, 0, 1e16);
  fields.take("cores", order.cores, 0, 1e6);
  if (std::string error = take_ranks(fields, order.ranks); !error.empty()) return Error{error};
  if (std::string error = take_identity(fields, order.identity); !error.empty()) {
    return Error{error};
  }
  if (!order.working_directory.starts_with('/')) {
    fields.wrong("'working_directory' is not an absolute path");
  }
  if (std::string error = fields.error(); !error.empty()) return Error{error};
  return order;
}

}  // namespace muster
