// The engine's input from outside, and its output, as JSON that reads back exactly. Symbols are
// written as their texts.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/symbols.h"
#include "engine/job_event.h"
#include "engine/world.h"
#include "model/decision.h"

namespace muster {

nlohmann::json to_json(const JobSpec& spec, const Symbols& symbols);
nlohmann::json to_json(const JobEvent& event, const Symbols& symbols);
nlohmann::json to_json(const Decision& decision);
nlohmann::json to_json(const EngineWorld& world, const Symbols& symbols);

// JSON has no infinity: that is written as text.
nlohmann::json number_json(double value);
double number_from(const nlohmann::json& json);

// Back again; they throw what the JSON library throws where the text is not one of ours.
JobSpec spec_from(const nlohmann::json& json, Symbols& symbols);
JobEvent event_from(const nlohmann::json& json, Symbols& symbols);
EngineWorld world_from(const nlohmann::json& json, Symbols& symbols);

}  // namespace muster
