// The reader of saved runs. An input is a way to damage one: the first byte says whether the
// checksum is made to fit again (1) and the description is left alone (2), the second how many
// bytes are cut off the end, and then come triples: where (two bytes, modulo the length) and what
// is put there. Bytes that are damaged are refused by their checksum; and whatever is under a
// checksum that fits, reading it ends with a run that can be asked or with a complaint.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "base/out_file.h"
#include "engine/world.h"
#include "fuzzed_file.h"
#include "run/assembly/jobs.h"
#include "run/assembly/saved_run.h"
#include "run/assembly/simulation.h"
#include "run/config/load_config.h"

namespace {

using muster::Simulation;

void give_up(const char* what) {
  std::fputs(what, stderr);
  std::abort();
}

const muster::RunConfig& config() {
  static const muster::RunConfig kConfig = [] {
    muster::RunConfig config;
    config.cluster.shape = "2x4";
    config.scheduling.name = "srtf";
    config.workload.generator = {"poisson", {{"jobs", "12"}, {"load", "3"}, {"cluster_gpus", "8"}}};
    auto complete = muster::complete_config(std::move(config));
    if (!complete) give_up(complete.error().message.c_str());
    return std::move(*complete);
  }();
  return kConfig;
}

std::unique_ptr<Simulation> made() {
  static const auto kJobs = muster::load_jobs(config().workload);
  if (!kJobs) give_up(kJobs.error().message.c_str());
  auto simulation = Simulation::make(config(), *kJobs);
  if (!simulation) give_up(simulation.error().message.c_str());
  return std::move(*simulation);
}

// A run that was saved in its middle.
const std::string& intact() {
  static const std::string kBytes = [] {
    const std::string file = (muster::fuzz_folder() / "intact").string();
    const auto simulation = made();
    simulation->save({.at_job = 8, .file = file});
    if (const auto ended = simulation->run(); !ended) give_up(ended.error().message.c_str());
    auto bytes = muster::read_file(file);
    if (!bytes) give_up(bytes.error().message.c_str());
    return *bytes;
  }();
  return kBytes;
}

// Whether the bytes are taken for a run.
bool accepted(const std::string& bytes) {
  const std::string file = muster::fuzzed_file("saved", bytes);
  if (!muster::description_in(file)) return false;
  const auto simulation = made();
  auto engine = simulation->resume(file);
  if (!engine) return false;
  (void)(*engine)->world();
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A mark of 8 bytes, a checksum of 64 and two counts come before what is under the checksum.
  constexpr std::size_t kHead = 8 + 8 + 64 + 8;
  if (size < 2) return 0;
  const bool seals = (data[0] & 1U) != 0;
  std::string bytes = seals ? intact().substr(kHead) : intact();
  bytes.resize(bytes.size() - std::min<std::size_t>(data[1], bytes.size() - 1));
  // The description is a count of 8 bytes and a text.
  std::uint64_t first = 0;
  if (seals && (data[0] & 2U) != 0 && bytes.size() > sizeof first) {
    std::memcpy(&first, bytes.data(), sizeof first);
    first = std::min<std::uint64_t>(first + sizeof first, bytes.size() - 1);
  }
  for (std::size_t i = 2; i + 2 < size; i += 3) {
    const std::size_t at =
        first + (data[i] + std::size_t{256} * data[i + 1]) % (bytes.size() - first);
    bytes[at] = static_cast<char>(data[i + 2]);
  }
  if (seals) {
    (void)accepted(muster::sealed_run(bytes));
  } else if (accepted(bytes) != (bytes == intact())) {
    give_up("a saved run was accepted though it is damaged, or refused though it is not\n");
  }
  return 0;
}
