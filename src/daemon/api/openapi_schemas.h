// The schemas of the API's answers, by name: those that the table of routes names.
#pragma once

#include <nlohmann/json.hpp>

namespace muster {

nlohmann::ordered_json answer_schemas();

}  // namespace muster
