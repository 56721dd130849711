#include "run/assembly/saved_run.h"

#include <fmt/format.h>

#include "base/out_file.h"
#include "run/config/load_config.h"

namespace muster {
namespace {

constexpr std::uint64_t kMagic = 0x32564153'5453554dULL;  // MUSTSAV2

// What must be equal for a run to go on as it would have.
std::string description_of(RunConfig config) {
  config.name.clear();
  config.output = {};
  return to_toml(config);
}

}  // namespace

Status check_savable(Engine& engine, const RunConfig& config) {
  const std::string part = engine.unsavable();
  if (part.empty()) return Done{};
  return Error{fmt::format(
      "a run of {} cannot be saved: its {} does not say how it is written (docs/engine.md)",
      config.label(), part)};
}

Status save_run(const std::string& file, Engine& engine, const RunConfig& config,
                const RunStory& story) {
  Archive state;
  if (!engine.checkpoint(state)) return check_savable(engine, config);
  Archive whole;
  whole.mark(kMagic);
  std::string description = description_of(config);
  whole.text(description);
  auto arrived = static_cast<std::uint64_t>(engine.arrived());
  whole.value(arrived);
  std::string bytes = state.bytes();
  whole.text(bytes);
  bytes = story.bytes();
  whole.text(bytes);
  return replace_file(file, whole.bytes());
}

Result<RunConfig> description_in(const std::string& file) {
  const auto text = read_file(file);
  if (!text) return text.error();
  Archive whole(*text);
  whole.mark(kMagic);
  std::string description;
  if (whole.good()) whole.text(description);
  if (!whole.good()) {
    return Error{fmt::format("{} is not a saved run; name a file that --save-run wrote", file)};
  }
  const auto document = parse_toml(description, file);
  if (!document) return document.error();
  auto config = load_config(*document, file, "", {});
  if (!config) return config.error();
  return complete_config(std::move(*config));
}

Status continue_run(const std::string& file, Engine& engine, const RunConfig& config,
                    JobSource& source, std::span<Observer* const> observers) {
  const auto text = read_file(file);
  if (!text) return text.error();
  Archive whole(*text);
  whole.mark(kMagic);
  if (!whole.good()) {
    return Error{fmt::format("{} is not a saved run; name a file that --save-run wrote", file)};
  }
  const Error damaged{fmt::format("{} is damaged or cut off; save the run again", file)};
  std::string description;
  std::uint64_t arrived = 0;
  std::string state;
  std::string story;
  whole.text(description);
  whole.value(arrived);
  whole.text(state);
  whole.text(story);
  if (!whole.good() || !whole.finished()) return damaged;
  if (const std::string now = description_of(config); now != description) {
    return Error{
        fmt::format("{} was saved with another description and cannot continue with this one: {}",
                    file, first_difference(description, now))};
  }
  for (std::uint64_t i = 0; i < arrived; ++i) {
    if (source.peek() == nullptr) {
      return Error{
          fmt::format("{}: {} jobs had arrived when it was saved, but the workload has only {}",
                      file, arrived, i)};
    }
    source.pop();
  }
  Archive reader(state);
  if (!engine.checkpoint(reader)) return check_savable(engine, config);
  if (!reader.good() || !reader.finished()) return damaged;
  if (Status told = tell_story(story, observers); !told) return damaged;
  return Done{};
}

}  // namespace muster
