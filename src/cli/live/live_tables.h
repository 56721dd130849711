// Jobs and nodes of a daemon as tables for people, from its JSON.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace muster {

// `now` is in seconds since 1970.
std::string jobs_text(const nlohmann::json& jobs, double now, bool colour);
std::string nodes_text(const nlohmann::json& nodes, bool colour);
// One job, field by field, with its launches.
std::string job_text(const nlohmann::json& job, double now);

}  // namespace muster
