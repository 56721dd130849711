#include "cli/live/explain_live.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "report/units.h"

namespace muster {
namespace {

// Where the last launch stands, and what was said of the last that is over.
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
      fmt::print("of its launch {} was said: {}\n", (*launch)["launch"].get<std::uint64_t>(), said);
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
    if (const auto before = story["waiting_and_submitted_earlier"].get<int>(); before > 0) {
      // Of jobs of others only the number is told.
      const auto& first = story["first_of_them"];
      fmt::print("{} jobs that were submitted earlier wait, too{}\n", before,
                 first.empty()
                     ? ""
                     : fmt::format(", the first of them {}", first[0].get<std::uint64_t>()));
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
