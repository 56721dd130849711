#include "cli/live/explain_live.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "report/units.h"

namespace muster {
namespace {

// Where the last launch stands, and the report about the last one that is over.
void tell_launches(const nlohmann::json& launches) {
  if (launches.empty()) return;
  const auto& last = launches.back();
  const bool over = last["state"] == "ended";
  if (!over) {
    fmt::print("its launch {} is {}\n", last["launch"].get<std::uint64_t>(),
               last["state"].get<std::string>());
  }
  for (auto launch = launches.rbegin(); launch != launches.rend(); ++launch) {
    if ((*launch)["state"] != "ended") continue;
    if (const auto said = (*launch)["detail"].get<std::string>(); !said.empty()) {
      fmt::print("launch {}: {}\n", (*launch)["launch"].get<std::uint64_t>(), said);
    }
    return;
  }
}

}  // namespace

int explain_live(const LinkOptions& options, const std::string& job) {
  auto link = DaemonLink::open(options);
  if (!link) return complain(link.error(), kExitFailed);
  const auto answer = link->get("/v1/jobs/" + percent_encoded(job) + "/explain");
  if (!answer) return complain(answer.error(), kExitFailed);
  if (options.json) {
    fmt::print("{}", *answer);
    return kExitOk;
  }
  const auto story = nlohmann::json::parse(*answer);
  fmt::print("job {} is {}: {}\n", story["id"].get<std::uint64_t>(),
             story["state"].get<std::string>(), story["reason"].get<std::string>());
  tell_launches(story["launches"]);
  if (!story["over"].get<bool>()) {
    fmt::print("it wants {} GPUs; {} of {} are free; the policy is {}\n", story["gpus"].get<int>(),
               story["free_gpus"].get<int>(), story["usable_gpus"].get<int>(),
               story["policy"].get<std::string>());
    if (const auto& before = story["jobs_before"]; !before.is_null() && before != 0) {
      // Of jobs of others only the number is told.
      std::vector<std::uint64_t> named = story["first_before"];
      fmt::print("{} of those that wait will start before it{}{}\n", before.get<std::size_t>(),
                 named.empty() ? "" : fmt::format(": {}", fmt::join(named, ", ")),
                 !named.empty() && named.size() < before.get<std::size_t>() ? " …" : "");
    }
    if (!story["expected_start"].is_null()) {
      const auto at = [&story](const char* key) {
        return story[key].is_null() ? std::string("unknown") : duration_text(story[key]);
      };
      fmt::print("expected to start in {} (between {} and {}), if no other jobs come\n",
                 at("expected_start"), at("expected_start_early"), at("expected_start_late"));
    }
  }
  for (const auto& decision : story["decisions"]) {
    fmt::print("  {:>10}  {}\n", duration_text(decision["after"].get<double>()),
               decision["text"].get<std::string>());
  }
  return kExitOk;
}

}  // namespace muster
