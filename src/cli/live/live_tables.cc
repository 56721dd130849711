#include "cli/live/live_tables.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/table.h"
#include "report/units.h"

namespace muster {
namespace {

using Json = nlohmann::json;

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

double number_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : std::nan("");
}

// "node0:0,1 node1:3".
std::string placement_text(const Json& job) {
  std::string text;
  const auto placement = job.find("placement");
  if (placement == job.end()) return text;
  for (const Json& part : *placement) {
    std::string gpus;
    for (const Json& gpu : part["gpus"]) {
      gpus += fmt::format("{}{}", gpus.empty() ? "" : ",", gpu.get<int>());
    }
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", text_of(part, "node"), gpus);
  }
  return text;
}

std::string age_text(double seconds) {
  return std::isnan(seconds) ? "" : duration_text(std::floor(std::max(0.0, seconds)));
}

std::string progress_text(const Json& job) {
  const auto progress = job.find("progress");
  if (progress == job.end() || !progress->is_object()) return "";
  const double step = number_of(*progress, "step");
  const double total = number_of(*progress, "total");
  if (std::isnan(total)) return fmt::format("{:.0f}", step);
  return fmt::format("{:.0f}/{:.0f}", step, total);
}

// "31 %, 4.2 of 139.8 GiB, 310 W" for each GPU, as far as it says.
std::string uses_text(const Json& node) {
  std::string text;
  const auto uses = node.find("gpu_use");
  if (uses == node.end()) return text;
  for (const Json& use : *uses) {
    constexpr double kGiB = 1 << 30;
    const double busy = number_of(use, "busy");
    const double used = number_of(use, "memory_used_bytes") / kGiB;
    const double watts = number_of(use, "watts");
    text += text.empty() ? "" : "; ";
    text += std::isnan(busy) ? "?" : fmt::format("{:.0f} %", 100 * busy);
    if (!std::isnan(used)) {
      text += fmt::format(", {:.1f} of {:.1f} GiB", used, number_of(use, "memory_bytes") / kGiB);
    }
    if (!std::isnan(watts)) text += fmt::format(", {:.0f} W", watts);
  }
  return text;
}

}  // namespace

std::string jobs_text(const Json& jobs, double now, bool colour) {
  Table table({{"id", "job"},
               {"name", "name"},
               {"owner", "owner"},
               {"state", "state"},
               {"gpus", "GPUs"},
               {"where", "where"},
               {"age", "age"},
               {"steps", "steps"},
               {"reason", "because"}});
  for (const Json& job : jobs) {
    const double ended = number_of(job, "ended");
    const double until = std::isnan(ended) ? now : ended;
    table.add_row({fmt::format("{}", job["id"].get<std::uint64_t>()), text_of(job, "name"),
                   text_of(job, "owner"), text_of(job, "state"),
                   fmt::format("{}", job["gpus"].get<int>()), placement_text(job),
                   age_text(until - number_of(job, "submitted")), progress_text(job),
                   text_of(job, "reason")});
  }
  return table.text({colour, false});
}

std::string nodes_text(const Json& nodes, bool colour) {
  std::vector<Column> columns = {{"name", "node"},   {"gpu_type", "type"}, {"gpus", "GPUs"},
                                 {"used", "in use"}, {"state", "state"},   {"jobs", "jobs by GPU"}};
  // Fake GPUs do nothing, and those of other machines are not measured.
  const bool looked_at = !nodes.empty() && nodes[0].contains("gpu_use");
  if (looked_at) columns.push_back({"use", "busy, memory, power"});
  Table table(std::move(columns));
  for (const Json& node : nodes) {
    std::string jobs;
    for (const Json& gpu : node["jobs"]) {
      std::string here;
      for (const Json& job : gpu) {
        // Jobs of others have no number for us.
        const std::string who = job.is_null() ? "?" : fmt::format("{}", job.get<std::uint64_t>());
        here += (here.empty() ? "" : "+") + who;
      }
      jobs += fmt::format("{}{}", jobs.empty() ? "" : " ", here.empty() ? "-" : here);
    }
    const std::string why = text_of(node, "reason");
    const std::string state = !node["up"].get<bool>()       ? "down: " + why
                              : node["drained"].get<bool>() ? "drained: " + why
                                                            : "up";
    std::vector<Cell> cells = {text_of(node, "name"),
                               text_of(node, "gpu_type"),
                               fmt::format("{}", node["gpus"].get<int>()),
                               fmt::format("{}", node["used"].get<int>()),
                               state,
                               jobs};
    if (looked_at) cells.emplace_back(uses_text(node));
    table.add_row(std::move(cells));
  }
  return table.text({colour, false});
}

std::string job_text(const Json& job, double now) {
  std::string text;
  const auto line = [&text](std::string_view label, const std::string& value) {
    if (!value.empty()) text += fmt::format("{:<12} {}\n", label, value);
  };
  line("job", fmt::format("{}", job["id"].get<std::uint64_t>()));
  line("name", text_of(job, "name"));
  line("owner", text_of(job, "owner"));
  line("state", text_of(job, "state"));
  line("because", text_of(job, "reason"));
  std::string command;
  for (const Json& word : job["command"]) {
    command += (command.empty() ? "" : " ") + word.get<std::string>();
  }
  line("command", command);
  line("folder", text_of(job, "working_directory"));
  line("GPUs", fmt::format("{}", job["gpus"].get<int>()));
  line("where", placement_text(job));
  const double ended = number_of(job, "ended");
  line("submitted", age_text(now - number_of(job, "submitted")) + " ago");
  if (!std::isnan(ended)) line("ended", age_text(now - ended) + " ago");
  line("with GPUs", age_text(number_of(job, "held_seconds")));
  line("steps", progress_text(job));
  line("launches", fmt::format("{}", job["launches"].get<int>()));
  for (const Json& run : job["runs"]) {
    std::string how = text_of(run, "state");
    if (const std::string outcome = text_of(run, "outcome"); !outcome.empty()) how = outcome;
    const double code = number_of(run, "exit_code");
    if (!std::isnan(code) && code != 0) how += fmt::format(" with exit code {:.0f}", code);
    text += fmt::format("  launch {:<3} {}  {}{}\n", run["launch"].get<int>(), placement_text(run),
                        how, text_of(run, "detail").empty() ? "" : ": " + text_of(run, "detail"));
  }
  return text;
}

}  // namespace muster
