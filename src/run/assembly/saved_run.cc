#include "run/assembly/saved_run.h"

#include <fmt/format.h>

#include "base/out_file.h"
#include "model/checkpoint.h"
#include "run/config/load_config.h"
#include "workload/data/sha256.h"

namespace muster {
namespace {

constexpr std::uint64_t kMagic = 0x34564153'5453554dULL;  // MUSTSAV4

// What must be equal for a run to go on as it would have.
std::string description_of(RunConfig config) {
  config.name.clear();
  config.preset.clear();  // all its settings are there
  config.output = {};
  return to_toml(config);
}

// The parts of a file, once its checksum has shown that they are as they were written.
struct SavedParts {
  std::string description;
  std::uint64_t arrived = 0;
  std::string digest;  // of the jobs that had arrived
  std::string state;
  std::string story;
};

void checkpoint(Archive& body, SavedParts& parts) {
  body.text(parts.description);
  body.value(parts.arrived);
  body.text(parts.digest);
  body.text(parts.state);
  body.text(parts.story);
}

Result<SavedParts> read_parts(const std::string& file) {
  const auto text = read_file(file);
  if (!text) return text.error();
  Archive whole(*text);
  whole.mark(kMagic);
  if (!whole.good()) {
    return Error{fmt::format("{} is not a saved run; name a file that --save-run wrote", file)};
  }
  std::string checksum;
  std::string body;
  whole.text(checksum);
  whole.text(body);
  SavedParts parts;
  if (whole.good() && whole.finished() && checksum == sha256_of(body)) {
    Archive reader(body);
    checkpoint(reader, parts);
    if (reader.good() && reader.finished()) return parts;
  }
  return Error{fmt::format("{} is damaged or cut off; save the run again", file)};
}

}  // namespace

void DigestedJobs::pop() {
  if (const JobSpec* job = inner_.peek()) {
    JobSpec copy = *job;
    Archive bytes;
    bytes.text(digest_);
    muster::checkpoint(bytes, copy);
    digest_ = sha256_of(bytes.bytes());
  }
  inner_.pop();
}

std::string sealed_run(std::string body) {
  Archive whole;
  whole.mark(kMagic);
  std::string checksum = sha256_of(body);
  whole.text(checksum);
  whole.text(body);
  return whole.bytes();
}

Status check_savable(Engine& engine, const RunConfig& config) {
  const std::string part = engine.unsavable();
  if (part.empty()) return Done{};
  return Error{
      fmt::format("a run of {} cannot be saved: its {} has no checkpoint() (docs/engine.md)",
                  config.label(), part)};
}

Status save_run(const std::string& file, Engine& engine, const RunConfig& config,
                const DigestedJobs& jobs, const RunStory& story) {
  Archive state;
  if (!engine.checkpoint(state)) return check_savable(engine, config);
  SavedParts parts{description_of(config), static_cast<std::uint64_t>(engine.arrived()),
                   jobs.digest(), state.bytes(), story.bytes()};
  Archive body;
  checkpoint(body, parts);
  return replace_file(file, sealed_run(body.bytes()));
}

Result<RunConfig> description_in(const std::string& file) {
  const auto parts = read_parts(file);
  if (!parts) return parts.error();
  const auto document = parse_toml(parts->description, file);
  if (!document) return document.error();
  auto config = load_config(*document, file, "", {});
  if (!config) return config.error();
  return complete_config(std::move(*config));
}

Status continue_run(const std::string& file, Engine& engine, const RunConfig& config,
                    DigestedJobs& jobs, std::span<Observer* const> observers) {
  const auto parts = read_parts(file);
  if (!parts) return parts.error();
  const Error damaged{fmt::format("{} is damaged or cut off; save the run again", file)};
  if (const std::string now = description_of(config); now != parts->description) {
    return Error{
        fmt::format("{} was saved with another description and cannot continue with this one: {}",
                    file, first_difference(parts->description, now))};
  }
  for (std::uint64_t i = 0; i < parts->arrived; ++i) {
    if (jobs.peek() == nullptr) {
      return Error{
          fmt::format("{}: {} jobs had arrived when it was saved, but the workload has only {}",
                      file, parts->arrived, i)};
    }
    jobs.pop();
  }
  if (jobs.digest() != parts->digest) {
    return Error{fmt::format(
        "{}: of the {} jobs that had arrived when it was saved, some are different in the workload "
        "now; use the workload that it was saved with, or save the run again",
        file, parts->arrived)};
  }
  Archive reader(parts->state);
  if (!engine.checkpoint(reader)) return check_savable(engine, config);
  if (!reader.good() || !reader.finished()) return damaged;
  if (Status told = tell_story(parts->story, observers); !told) return damaged;
  return Done{};
}

}  // namespace muster
