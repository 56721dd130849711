#include "run/whatif/saved_state.h"

#include <utility>

namespace muster {

Result<std::unique_ptr<SavedState>> SavedState::open(const std::string& file) {
  auto config = description_in(file);
  if (!config) return config.error();
  auto simulation = Simulation::make(*config);
  if (!simulation) return simulation.error();
  auto engine = (*simulation)->resume(file);
  if (!engine) return engine.error();
  auto state = std::make_unique<SavedState>();
  state->config_ = std::move(*config);
  state->simulation_ = std::move(*simulation);
  state->engine_ = *engine;
  return state;
}

Subject SavedState::subject() const {
  Subject subject{engine_->world(), outlook_parts(simulation_->fresh_parts()), config_,
                  Symbols(std::as_const(*simulation_).symbols())};
  subject.parts.cost = simulation_->cost();
  subject.parts.options = config_.engine;
  // Others own it: the pointer keeps nothing alive.
  subject.parts.running = std::shared_ptr<const Engine>(std::shared_ptr<const Engine>(), engine_);
  subject.parts.life = config_.life;
  if (config_.life.any()) {
    subject.parts.backend =
        std::shared_ptr<const Backend>(std::shared_ptr<const Backend>(), &simulation_->backend());
  }
  return subject;
}

}  // namespace muster
