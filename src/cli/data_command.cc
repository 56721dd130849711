// `muster data list | fetch | verify`: the public data that reproductions need.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/show.h"
#include "report/json.h"
#include "report/progress.h"
#include "workload/data/data_folder.h"
#include "workload/data/fetch.h"

namespace muster {
namespace {

struct DataOptions {
  std::vector<std::string> names;
  std::string folder;
  std::string catalogue;
  bool json = false;
  bool all = false;
  bool accept_unverified = false;
  bool quiet = false;
  long stalled_seconds = 60;
};

// A file and the set it belongs to.
struct Wanted {
  const DataSet* set;
  const DataFile* file;
};

Result<Catalogue> catalogue_of(const DataOptions& options) {
  return options.catalogue.empty() ? own_catalogue() : read_catalogue(options.catalogue);
}

void add_all(const DataSet& set, std::vector<Wanted>& wanted) {
  for (const DataFile& file : set.files) wanted.push_back({&set, &file});
}

// The files of the named sets and the named files; of all sets when no name is given.
Result<std::vector<Wanted>> wanted_of(const DataOptions& options, const Catalogue& catalogue) {
  std::vector<Wanted> wanted;
  for (const std::string& name : options.names) {
    const auto found = catalogue.find(name);
    if (!found) return found.error();
    if (found->second == nullptr) {
      add_all(*found->first, wanted);
    } else {
      wanted.push_back({found->first, found->second});
    }
  }
  if (options.names.empty()) {
    for (const DataSet& set : catalogue.sets) add_all(set, wanted);
  }
  return wanted;
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr double kStep = 1000;
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= kStep && unit < 3) {
    value /= kStep;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::string_view state_text(DataState state) {
  switch (state) {
    case DataState::kMissing:
      return "missing";
    case DataState::kGood:
      return "good";
    case DataState::kSeen:
      return "as fetched";
    case DataState::kUnverified:
      return "not verifiable";
    case DataState::kWrong:
      return "WRONG";
    case DataState::kUnreadable:
      return "unreadable";
  }
  return "";
}

// How much of a set is here: "all here", "3 of 26 here", "not here".
std::string presence_text(const DataSet& set, const DataPlaces& places) {
  const auto here = std::count_if(set.files.begin(), set.files.end(), [&](const DataFile& file) {
    return look_for_data(file, places).state != DataState::kMissing;
  });
  if (here == 0) return "not here";
  if (here == static_cast<std::ptrdiff_t>(set.files.size())) return "all here";
  return fmt::format("{} of {} here", here, set.files.size());
}

bool has_unknown(const DataSet& set) {
  return std::any_of(set.files.begin(), set.files.end(),
                     [](const DataFile& file) { return file.sha256.empty(); });
}

void write_json(const std::vector<Wanted>& wanted, const DataPlaces& places, bool read_files,
                bool* fine = nullptr) {
  JsonWriter json(2);
  json.begin_array();
  for (const Wanted& one : wanted) {
    const DataCheck check =
        read_files ? verify_data(*one.file, places) : look_for_data(*one.file, places);
    json.begin_object();
    json.member("dataset", one.set->name)
        .member("path", one.file->path)
        .member("url", one.file->url);
    json.member("licence", one.set->licence).member("home", one.set->home);
    json.key("size");
    one.file->size ? json.value(static_cast<double>(*one.file->size)) : json.null();
    json.key("sha256");
    one.file->sha256.empty() ? json.null() : json.value(one.file->sha256);
    json.member("state", state_text(check.state)).member("found", check.path.string());
    json.member("problem", check.problem).end_object();
    if (fine != nullptr && check.state != DataState::kGood && check.state != DataState::kSeen)
      *fine = false;
  }
  json.end_array();
  fmt::print("{}\n", json.text());
}

void describe(const DataSet& set, const DataPlaces& places) {
  show("{}: {}\n  for      {}\n  by       {}\n  at       {}\n  licence  {}\n", set.name, set.what,
       set.used_for, set.authors, set.home, set.licence);
  if (!set.notes.empty()) show("  note     {}\n", set.notes);
  for (const DataFile& file : set.files) {
    show("  {:<44} {:>9}  {:<14} {}\n", file.path, file.size ? bytes_text(*file.size) : "size ?",
         state_text(look_for_data(file, places).state),
         file.sha256.empty() ? "no checksum published" : file.sha256);
  }
}

int list(const DataOptions& options) {
  const Result<Catalogue> catalogue = catalogue_of(options);
  if (!catalogue) return complain(catalogue.error());
  const Result<std::vector<Wanted>> wanted = wanted_of(options, *catalogue);
  if (!wanted) return complain(wanted.error());
  const DataPlaces places = data_places(options.folder);
  if (options.json) {
    write_json(*wanted, places, false);
    return kExitOk;
  }
  if (!options.names.empty()) {
    for (const std::string& name : options.names) describe(*catalogue->find(name)->first, places);
    return kExitOk;
  }
  for (const DataSet& set : catalogue->sets) {
    show("{:<19} {:>3} {} {:>9}{}  {:<13} {}\n{:<19} {}; {}\n", set.name, set.files.size(),
         set.files.size() == 1 ? "file " : "files", bytes_text(set.size()),
         has_unknown(set) ? "+" : " ", presence_text(set, places), set.licence, "", set.what,
         set.home);
  }
  show("\ndata folder: {} (then {})\n", places.folder.string(), places.shared.string());
  show(
      "`muster data list NAME` shows the files, `muster data fetch NAME` brings them. A + means "
      "that the\n"
      "size or checksum of some file is not published. No reproduction of Blox and no generator "
      "but `fit`\n"
      "needs any of this.\n");
  return kExitOk;
}

// How a file came, for people.
std::string came_text(const Fetched& fetched) {
  std::string text = fetched.was_there ? "was already there" : bytes_text(fetched.size);
  if (fetched.verified) return text;
  return text + (fetched.sha256.empty() ? " (no checksum is published)"
                                        : ", SHA-256 " + fetched.sha256 + " (not published)");
}

// Fetches one file after the other; returns the exit status.
int fetch_all(const std::vector<Wanted>& wanted, const DataPlaces& places, FetchOptions how,
              bool quiet) {
  std::uint64_t total = 0;
  for (const Wanted& one : wanted) total += one.file->size.value_or(0);
  Progress progress({.title = "fetch", .unit = "bytes", .quiet = quiet});
  ProgressTask& task = progress.task("download", total);
  std::uint64_t before = 0;  // bytes of the files that are done
  how.progress = [&](std::uint64_t done, std::uint64_t) {
    task.set(before + done);
    return !interrupted();
  };
  bool offline = false;
  how.offline = &offline;
  std::vector<std::string> failures;
  const DataSet* said = nullptr;
  std::size_t not_tried = 0;
  for (const Wanted& one : wanted) {
    // Without a connection every further file would fail in the same long words.
    if (offline && look_for_data(*one.file, places).state == DataState::kMissing) {
      ++not_tried;
      continue;
    }
    if (one.set != said) {
      progress.say(
          fmt::format("{}: {} (licence: {})", one.set->name, one.set->authors, one.set->licence));
      said = one.set;
    }
    const Result<Fetched> fetched = fetch_data(*one.file, how);
    if (interrupted()) return kExitInterrupted;
    if (!fetched) {
      failures.push_back(fetched.error().message);
      continue;
    }
    before += fetched->size;
    task.set(before);
    progress.say(fmt::format("  {} {}", fetched->path.string(), came_text(*fetched)));
  }
  progress.stop();
  for (const std::string& failure : failures) complain(Error{failure});
  if (not_tried > 0) {
    complain(Error{fmt::format("no connection: {} more files were not tried", not_tried)});
  }
  return failures.empty() ? kExitOk : kExitFailed;
}

int fetch(const DataOptions& options) {
  if (options.names.empty() && !options.all) {
    return complain(Error{"name the data to fetch (see `muster data list`), or say --all"});
  }
  const Result<Catalogue> catalogue = catalogue_of(options);
  if (!catalogue) return complain(catalogue.error());
  const Result<std::vector<Wanted>> wanted = wanted_of(options, *catalogue);
  if (!wanted) return complain(wanted.error());
  watch_interrupts();
  const DataPlaces places = data_places(options.folder);
  FetchOptions how;
  how.folder = places.folder;
  how.shared = places.shared;
  how.accept_unverified = options.accept_unverified;
  how.stalled_seconds = options.stalled_seconds;
  return fetch_all(*wanted, places, how, options.quiet);
}

int verify(const DataOptions& options) {
  const Result<Catalogue> catalogue = catalogue_of(options);
  if (!catalogue) return complain(catalogue.error());
  const Result<std::vector<Wanted>> wanted = wanted_of(options, *catalogue);
  if (!wanted) return complain(wanted.error());
  const DataPlaces places = data_places(options.folder);
  // Without names only what is here counts: no user needs all of it.
  const bool all = options.names.empty();
  if (options.json) {
    bool fine = true;
    write_json(*wanted, places, true, &fine);
    return fine || all ? kExitOk : kExitFailed;
  }
  int good = 0;
  int missing = 0;
  int wrong = 0;
  for (const Wanted& one : *wanted) {
    const DataCheck check = verify_data(*one.file, places);
    if (check.state == DataState::kMissing) {
      ++missing;
      if (!all)
        fmt::print("{:<14} {} (`muster data fetch {}`)\n", "missing", one.file->path,
                   one.set->name);
      continue;
    }
    const bool bad = check.state == DataState::kWrong || check.state == DataState::kUnreadable;
    (bad ? wrong : good) += 1;
    fmt::print("{:<14} {}{}\n", state_text(check.state), check.path.string(),
               check.problem.empty() ? "" : ": " + check.problem);
  }
  fmt::print("{} right or not verifiable, {} wrong, {} missing\n", good, wrong, missing);
  return wrong > 0 || (missing > 0 && !all) ? kExitFailed : kExitOk;
}

CLI::App* add_part(CLI::App& data, Chosen& chosen, const std::shared_ptr<DataOptions>& options,
                   const std::string& name, const std::string& sentence,
                   int (*run)(const DataOptions&)) {
  CLI::App* part = data.add_subcommand(name, sentence);
  part->add_option("NAME", options->names, "a set of data, or the path of one of its files");
  part->add_option(
      "--dir", options->folder,
      "the data folder (default: MUSTER_DATA, else muster under XDG_DATA_HOME or ~/.local/share)");
  part->add_option("--catalogue", options->catalogue, "catalogue to use instead of Muster's own");
  part->callback(
      [options, run, &chosen] { chosen.run = [options, run] { return run(*options); }; });
  return part;
}

}  // namespace

void add_data_command(CLI::App& app, Chosen& chosen) {
  CLI::App* data =
      app.add_subcommand("data", "List, fetch and verify the public data of published experiments");
  data->require_subcommand(1);
  const auto options = std::make_shared<DataOptions>();
  CLI::App* list_part =
      add_part(*data, chosen, options, "list",
               "List the data sets, where they are published, and what is here", list);
  list_part->add_flag("--json", options->json, "as JSON");
  CLI::App* fetch_part =
      add_part(*data, chosen, options, "fetch", "Download into the data folder", fetch);
  fetch_part->add_flag("--all", options->all, "everything in the catalogue");
  fetch_part->add_flag("--accept-unverified", options->accept_unverified,
                       "also fetch files for which no checksum is published");
  fetch_part
      ->add_option("--timeout", options->stalled_seconds,
                   "give up after this many seconds without data")
      ->capture_default_str();
  fetch_part->add_flag("-q,--quiet", options->quiet, "print errors only");
  CLI::App* verify_part =
      add_part(*data, chosen, options, "verify", "Compare what is here with the catalogue", verify);
  verify_part->add_flag("--json", options->json, "as JSON");
  data->footer(
      "Offline: copy a file to its place under the data folder by hand, then run `muster data "
      "verify NAME`.\n"
      "Examples:\n"
      "  muster data list\n"
      "  muster data fetch philly gavel/simulation_throughputs.json\n"
      "  muster data verify");
}

}  // namespace muster
