// nodes, drain, logs, top: the commands about machines and output of a daemon.
#include <chrono>
#include <memory>
#include <thread>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/live/daemon_link.h"
#include "cli/live/live_tables.h"
#include "daemon/clock.h"
#include "report/terminal.h"

namespace muster {
namespace {

using Json = nlohmann::json;

struct NodeOptions {
  LinkOptions link;
  std::string node;
  bool undo = false;
};

struct LogsOptions {
  LinkOptions link;
  std::string job;
  long long launch = 0;
  int rank = 0;
  bool follow = false;
};

struct TopOptions {
  LinkOptions link;
  double every = 1;
  bool once = false;
};

int print_nodes(const NodeOptions& options) {
  auto link = DaemonLink::open(options.link);
  if (!link) return complain(link.error(), kExitFailed);
  const auto answer = link->get("/v1/nodes");
  if (!answer) return complain(answer.error(), kExitFailed);
  if (options.link.json) {
    fmt::print("{}", *answer);
  } else {
    fmt::print("{}", nodes_text(Json::parse(*answer), wants_colour(STDOUT_FILENO)));
  }
  return kExitOk;
}

int drain_node(const NodeOptions& options) {
  auto link = DaemonLink::open(options.link);
  if (!link) return complain(link.error(), kExitFailed);
  const auto answer = link->post("/v1/nodes/" + percent_encoded(options.node) +
                                 (options.undo ? "/undrain" : "/drain"));
  if (!answer) return complain(answer.error(), kExitFailed);
  if (options.link.json) fmt::print("{}", *answer);
  return kExitOk;
}

// What one launch has written, as it is or as JSON with an object for each line.
class LogPrinter {
 public:
  LogPrinter(const LogsOptions& options, long long launch) : options_(options), launch_(launch) {}
  ~LogPrinter() {
    if (!begun_.empty()) print_line(begun_);
  }
  LogPrinter(const LogPrinter&) = delete;
  LogPrinter& operator=(const LogPrinter&) = delete;

  void print(const std::string& text) {
    if (!options_.link.json) {
      fmt::print("{}", text);
    } else {
      begun_ += text;
      std::size_t begin = 0;
      for (std::size_t end; (end = begun_.find('\n', begin)) != std::string::npos;
           begin = end + 1) {
        print_line(begun_.substr(begin, end - begin));
      }
      begun_.erase(0, begin);
    }
    std::fflush(stdout);
  }

 private:
  void print_line(const std::string& line) const {
    const Json json = {{"launch", launch_}, {"rank", options_.rank}, {"line", line}};
    fmt::print("{}\n", json.dump(-1, ' ', false, Json::error_handler_t::replace));
  }

  const LogsOptions& options_;
  long long launch_;
  std::string begun_;  // a line that has no end yet
};

// One launch, from the beginning to its end or to what there is; tells whether more launches
// follow.
Result<bool> print_launch(DaemonLink& link, const LogsOptions& options, long long launch,
                          bool follow) {
  constexpr int kTries = 100;
  LogPrinter printer(options, launch);
  long long offset = 0;
  for (int failures = 0; true;) {
    const auto answer =
        link.call("GET", fmt::format("/v1/jobs/{}/logs?launch={}&rank={}&offset={}",
                                     percent_encoded(options.job), launch, options.rank, offset));
    if (!answer) {
      // A daemon that is being restarted is back in a moment; one that says no is there.
      if (!follow || link.answered() || ++failures > kTries || interrupted()) return answer.error();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      if (auto again = DaemonLink::open(options.link)) link = std::move(*again);
      continue;
    }
    failures = 0;
    const long long begin = parse_integer(header_of(*answer, "Muster-Begin")).value_or(offset);
    if (begin > offset) {
      fmt::print(stderr,
                 "muster: {} bytes of launch {} are gone: of a long output only the end is kept\n",
                 begin - offset, launch);
    }
    printer.print(answer->body);
    offset = parse_integer(header_of(*answer, "Muster-Offset")).value_or(offset);
    const bool more_launches =
        parse_integer(header_of(*answer, "Muster-Last-Launch")).value_or(0) > launch;
    const bool over = header_of(*answer, "Muster-Job-Over") == "true";
    const bool ended = header_of(*answer, "Muster-Ended") == "true";
    if (!answer->body.empty()) continue;
    const auto last = parse_integer(header_of(*answer, "Muster-Last-Launch")).value_or(launch);
    if (options.launch > last && !follow) {
      return Error{
          fmt::format("job {} has no launch {} yet: its last is {}", options.job, launch, last)};
    }
    if (interrupted()) return false;
    if (ended && (more_launches || over || !follow)) return more_launches;
    if (!follow) return more_launches;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

int print_logs(const LogsOptions& options) {
  watch_interrupts();
  auto link = DaemonLink::open(options.link);
  if (!link) return complain(link.error(), kExitFailed);
  long long launch = options.launch > 0 ? options.launch : 1;
  while (true) {
    const auto more = print_launch(*link, options, launch, options.follow);
    if (!more) return complain(more.error(), kExitFailed);
    if (!*more || options.launch > 0) return interrupted() ? kExitInterrupted : kExitOk;
    ++launch;
  }
}

int show_top(const TopOptions& options) {
  watch_interrupts();
  const bool screen = !options.once && isatty(STDOUT_FILENO) != 0;
  while (!interrupted()) {
    auto link = DaemonLink::open(options.link);
    if (!link) return complain(link.error(), kExitFailed);
    const auto nodes = link->get("/v1/nodes");
    const auto jobs = link->get("/v1/jobs?active=true&limit=200");
    if (!nodes) return complain(nodes.error(), kExitFailed);
    if (!jobs) return complain(jobs.error(), kExitFailed);
    if (options.link.json) {
      fmt::print("{{\"nodes\":{},\"jobs\":{}}}\n", trim(*nodes), trim(*jobs));
    } else {
      const bool colour = wants_colour(STDOUT_FILENO);
      fmt::print("{}{}\n{}", screen ? "\x1b[H\x1b[2J" : "", nodes_text(Json::parse(*nodes), colour),
                 jobs_text(Json::parse(*jobs), LiveClock::unix_now(), colour));
    }
    std::fflush(stdout);
    if (options.once || !screen) return kExitOk;
    std::this_thread::sleep_for(std::chrono::duration<double>(options.every));
  }
  return kExitOk;
}

}  // namespace

void add_node_commands(CLI::App& app, Chosen& chosen) {
  CLI::App* nodes = app.add_subcommand("nodes", "List nodes and the jobs on their GPUs");
  const auto list = std::make_shared<NodeOptions>();
  add_link_options(*nodes, list->link);
  nodes->footer("Examples:\n  muster nodes");
  nodes->callback([list, &chosen] { chosen.run = [list] { return print_nodes(*list); }; });

  CLI::App* drain = app.add_subcommand("drain", "Start nothing new on a node");
  const auto which = std::make_shared<NodeOptions>();
  drain->add_option("NODE", which->node, "its name")->required();
  drain->add_flag("--undo", which->undo, "use it again");
  add_link_options(*drain, which->link);
  drain->footer("Examples:\n  muster drain node0\n  muster drain node0 --undo");
  drain->callback([which, &chosen] { chosen.run = [which] { return drain_node(*which); }; });
}

void add_logs_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("logs", "Print what a job has written");
  const auto options = std::make_shared<LogsOptions>();
  command->add_option("JOB", options->job, "its number")->required();
  command->add_flag("-f,--follow", options->follow, "go on until the job has left");
  command->add_option("--launch", options->launch, "output of this launch; by default of all")
      ->type_name("N");
  command->add_option("--rank", options->rank, "output of this rank")->type_name("N");
  add_link_options(*command, options->link);
  command->footer("Examples:\n  muster logs 42\n  muster logs -f 42 --rank 1");
  command->callback(
      [options, &chosen] { chosen.run = [options] { return print_logs(*options); }; });
}

void add_top_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand("top", "Watch nodes and jobs of a daemon");
  const auto options = std::make_shared<TopOptions>();
  command->add_option("--every", options->every, "seconds between updates")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  command->add_flag("--once", options->once, "print once and end");
  add_link_options(*command, options->link);
  command->footer("Examples:\n  muster top");
  command->callback([options, &chosen] { chosen.run = [options] { return show_top(*options); }; });
}

}  // namespace muster
