// jobs, status, wait, cancel, hold, release: the commands about jobs of a daemon.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <thread>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/live/daemon_link.h"
#include "cli/live/live_tables.h"
#include "daemon/clock.h"
#include "report/terminal.h"

namespace muster {
namespace {

using Json = nlohmann::json;

struct JobsOptions {
  LinkOptions link;
  std::string state;
  std::string owner;
  bool active = false;
  int limit = 0;
};

struct WhichOptions {
  LinkOptions link;
  std::vector<std::string> ids;
  double timeout = 0;
};

int print_jobs(const JobsOptions& options) {
  auto link = DaemonLink::open(options.link);
  if (!link) return complain(link.error(), kExitFailed);
  std::string target = "/v1/jobs?";
  if (!options.state.empty()) target += "state=" + percent_encoded(options.state) + "&";
  if (!options.owner.empty()) target += "owner=" + percent_encoded(options.owner) + "&";
  if (options.active) target += "active=true&";
  if (options.limit > 0) target += fmt::format("limit={}&", options.limit);
  target.pop_back();
  const auto answer = link->get(target);
  if (!answer) return complain(answer.error(), kExitFailed);
  if (options.link.json) {
    fmt::print("{}", *answer);
    return kExitOk;
  }
  const Json jobs = Json::parse(*answer);
  if (jobs.empty()) {
    fmt::print("no jobs\n");
  } else {
    fmt::print("{}", jobs_text(jobs, LiveClock::unix_now(), wants_colour(STDOUT_FILENO)));
  }
  return kExitOk;
}

int print_status(const WhichOptions& options) {
  auto link = DaemonLink::open(options.link);
  if (!link) return complain(link.error(), kExitFailed);
  if (options.ids.empty()) {
    const auto answer = link->get("/v1/status");
    if (!answer) return complain(answer.error(), kExitFailed);
    if (options.link.json) {
      fmt::print("{}", *answer);
      return kExitOk;
    }
    const Json status = Json::parse(*answer);
    fmt::print("{} of {} GPUs in use, policy {}, executor {}\n", status["gpus_in_use"].get<int>(),
               status["gpus"].get<int>(), status["policy"].get<std::string>(),
               status["executor"].get<std::string>());
    for (const auto& [state, count] : status["jobs"].items()) {
      if (count.get<int>() > 0) fmt::print("{:>8} {}\n", count.get<int>(), state);
    }
    if (status["safe_mode"].get<bool>()) {
      fmt::print(
          "safe mode: the daemon died right after its start, again and again, with the policy that "
          "was chosen; first come, first served until it is restarted with another, or reloaded\n");
    }
    if (const auto trouble = status["trouble"].get<std::string>(); !trouble.empty()) {
      fmt::print("trouble: {}\n", trouble);
    }
    return kExitOk;
  }
  for (const std::string& id : options.ids) {
    const auto answer = link->get("/v1/jobs/" + percent_encoded(id));
    if (!answer) return complain(answer.error(), kExitFailed);
    if (options.link.json) {
      fmt::print("{}", *answer);
    } else {
      fmt::print("{}", job_text(Json::parse(*answer), LiveClock::unix_now()));
    }
  }
  return kExitOk;
}

bool job_over(const Json& job) {
  const auto state = job["state"].get<std::string>();
  return state == "finished" || state == "failed" || state == "refused" || state == "cancelled";
}

// The jobs that are waited for, as they are now.
struct Awaited {
  std::map<std::string, Json> jobs;  // by number as it was given, or as the daemon has it
  bool all_left = false;
  bool all_well = true;  // of those that were named: they have finished

  // `all`: jobs that were not named are wanted, too.
  Status look(DaemonLink& link, const std::vector<std::string>& ids, bool all);
  Status look_again(DaemonLink& link, const std::string& id);
};

Status Awaited::look_again(DaemonLink& link, const std::string& id) {
  Json& job = jobs[id];
  if (job.is_object() && job_over(job)) return Done{};
  const auto answer = link.get("/v1/jobs/" + percent_encoded(id));
  if (!answer) return answer.error();
  job = Json::parse(*answer);
  return Done{};
}

Status Awaited::look(DaemonLink& link, const std::vector<std::string>& ids, bool all) {
  all_left = all_well = true;
  for (const std::string& id : ids) {
    if (Status done = look_again(link, id); !done) return done;
    all_left = all_left && job_over(jobs[id]);
    all_well = all_well && jobs[id]["state"] == "finished";
  }
  if (!ids.empty()) return Done{};
  // Without numbers, all there are.
  const auto answer = link.get(all ? "/v1/jobs?active=true" : "/v1/jobs?active=true&limit=1");
  if (!answer) return answer.error();
  const Json active = Json::parse(*answer);
  for (const Json& job : active) jobs[std::to_string(job["id"].get<std::uint64_t>())] = job;
  all_left = active.empty();
  if (!all_left || !all) return Done{};
  for (const auto& [id, job] : std::map(jobs)) {
    if (Status done = look_again(link, id); !done) return done;
  }
  return Done{};
}

void print_awaited(const std::vector<std::string>& ids, const Awaited& awaited) {
  Json list = Json::array();
  for (const std::string& id : ids) list.push_back(awaited.jobs.at(id));
  if (ids.empty()) {
    for (const auto& [id, job] : awaited.jobs) list.push_back(job);
    std::sort(list.begin(), list.end(),
              [](const Json& a, const Json& b) { return a["id"] < b["id"]; });
  }
  fmt::print("{}\n", list.dump(-1, ' ', false, Json::error_handler_t::replace));
}

int wait_for_jobs(const WhichOptions& options) {
  watch_interrupts();
  const auto begin = std::chrono::steady_clock::now();
  double pause = 0.02;
  int failures = 0;
  bool met = false;  // the daemon
  Awaited awaited;
  while (!interrupted()) {
    auto link = DaemonLink::open(options.link);
    const Status looked =
        link ? awaited.look(*link, options.ids, options.link.json) : Status(link.error());
    if (looked && awaited.all_left) {
      if (options.link.json) print_awaited(options.ids, awaited);
      return awaited.all_well ? kExitOk : kExitFailed;
    }
    // A daemon that is being restarted is back in a moment; one that was never there, or says no,
    // will not say anything else.
    failures = looked ? 0 : failures + 1;
    met = met || link;
    if (failures > 50 || !met || (link && link->refused())) {
      return complain(looked.error(), kExitFailed);
    }
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
    if (options.timeout > 0 && waited.count() > options.timeout) {
      return complain(Error{fmt::format("not all have left after {} s", options.timeout)},
                      kExitFailed);
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(pause));
    pause = std::min(0.25, 1.5 * pause);
  }
  return kExitInterrupted;
}

int change_jobs(const WhichOptions& options, const std::string& what) {
  auto link = DaemonLink::open(options.link);
  if (!link) return complain(link.error(), kExitFailed);
  int status = kExitOk;
  for (const std::string& id : options.ids) {
    const auto answer = link->post("/v1/jobs/" + percent_encoded(id) + "/" + what);
    if (!answer) {
      status = complain(answer.error(), kExitFailed);
    } else if (options.link.json) {
      fmt::print("{}", *answer);
    }
  }
  return status;
}

void add_change(CLI::App& app, Chosen& chosen, const std::string& name, const char* sentence) {
  CLI::App* command = app.add_subcommand(name, sentence);
  const auto options = std::make_shared<WhichOptions>();
  command->add_option("JOB", options->ids, "numbers of jobs")->required();
  add_link_options(*command, options->link);
  command->footer(fmt::format("Examples:\n  muster {} 42", name));
  command->callback([options, name, &chosen] {
    chosen.run = [options, name] { return change_jobs(*options, name); };
  });
}

}  // namespace

void add_job_commands(CLI::App& app, Chosen& chosen) {
  CLI::App* jobs = app.add_subcommand("jobs", "List the jobs of a running daemon");
  const auto list = std::make_shared<JobsOptions>();
  jobs->add_option("--in", list->state, "only those in this state, as in running")
      ->type_name("STATE");
  jobs->add_option("--owner", list->owner, "only those of this user")->type_name("USER");
  jobs->add_flag("--active", list->active, "only those that have not left");
  jobs->add_option("--limit", list->limit, "only the last N")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  add_link_options(*jobs, list->link);
  jobs->footer("Examples:\n  muster jobs\n  muster jobs --active --json");
  jobs->callback([list, &chosen] { chosen.run = [list] { return print_jobs(*list); }; });

  CLI::App* status = app.add_subcommand("status", "Show one job with its launches, or the daemon");
  const auto which = std::make_shared<WhichOptions>();
  status->add_option("JOB", which->ids, "numbers of jobs; none: the daemon itself");
  add_link_options(*status, which->link);
  status->footer("Examples:\n  muster status\n  muster status 42");
  status->callback([which, &chosen] { chosen.run = [which] { return print_status(*which); }; });

  CLI::App* wait = app.add_subcommand("wait", "Wait until jobs have left");
  const auto awaited = std::make_shared<WhichOptions>();
  wait->add_option("JOB", awaited->ids, "numbers of jobs; none: all there are");
  wait->add_option("--timeout", awaited->timeout, "give up after this time")->type_name("SECONDS");
  add_link_options(*wait, awaited->link);
  wait->footer(
      "Examples:\n"
      "  muster wait 42 43\n"
      "  muster wait --timeout 60\n"
      "\n"
      "Exit status: 0 if all that were named have finished, 1 if one failed, was refused or "
      "cancelled.");
  wait->callback(
      [awaited, &chosen] { chosen.run = [awaited] { return wait_for_jobs(*awaited); }; });

  add_change(app, chosen, "cancel", "Cancel jobs; running ones are stopped");
  add_change(app, chosen, "hold", "Keep jobs from running until they are released");
  add_change(app, chosen, "release", "Let held jobs run");
}

}  // namespace muster
