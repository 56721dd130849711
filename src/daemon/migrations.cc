#include "daemon/migrations.h"

#include <array>

#include <fmt/format.h>

namespace muster {
namespace {

// Marks our files among SQLite's: "Mstr".
constexpr std::int64_t kApplication = 0x4d737472;

constexpr std::string_view kVersion1 = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE jobs(
  id INTEGER PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, request TEXT NOT NULL,
  state TEXT NOT NULL, reason TEXT NOT NULL, description TEXT NOT NULL,
  submitted REAL NOT NULL, admitted REAL NOT NULL, first_start REAL NOT NULL, ended REAL NOT NULL,
  total_work REAL NOT NULL, work REAL NOT NULL, saved_work REAL NOT NULL, lost_work REAL NOT NULL,
  held REAL NOT NULL, gpu_seconds REAL NOT NULL, waited REAL NOT NULL, overhead REAL NOT NULL,
  launches INTEGER NOT NULL, preemptions INTEGER NOT NULL, restarts INTEGER NOT NULL,
  crashes INTEGER NOT NULL, resizes INTEGER NOT NULL) STRICT;
CREATE TABLE runs(
  job INTEGER NOT NULL, launch INTEGER NOT NULL, state TEXT NOT NULL, gpus TEXT NOT NULL,
  shared INTEGER NOT NULL, planned REAL NOT NULL, started REAL NOT NULL, ended REAL NOT NULL,
  outcome TEXT NOT NULL, exit_code INTEGER NOT NULL, saved_step REAL NOT NULL,
  detail TEXT NOT NULL, PRIMARY KEY(job, launch)) STRICT, WITHOUT ROWID;
CREATE TABLE nodes(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, gpu_type TEXT NOT NULL, gpus INTEGER NOT NULL,
  drained INTEGER NOT NULL, reason TEXT NOT NULL) STRICT;
CREATE TABLE users(
  name TEXT PRIMARY KEY, role TEXT NOT NULL, settings TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE decisions(
  sequence INTEGER PRIMARY KEY AUTOINCREMENT, time REAL NOT NULL, job INTEGER NOT NULL,
  text TEXT NOT NULL) STRICT;
CREATE INDEX decisions_by_job ON decisions(job, sequence);
)sql";

constexpr std::string_view kVersion2 =
    "ALTER TABLE jobs ADD COLUMN metrics TEXT NOT NULL DEFAULT ''";

constexpr std::string_view kVersion3 = R"sql(
ALTER TABLE jobs ADD COLUMN failed_starts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN paused_until REAL NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN opportunistic INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN cpus_per_gpu REAL NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN memory_per_gpu REAL NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN held_before REAL NOT NULL DEFAULT -1;
ALTER TABLE jobs ADD COLUMN gpu_seconds_before REAL NOT NULL DEFAULT -1;
ALTER TABLE jobs ADD COLUMN as_of REAL NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN rate REAL NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN duration REAL NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN estimate REAL NOT NULL DEFAULT 0)sql";

constexpr std::array kSteps = {kVersion1, kVersion2, kVersion3};

// A file of another program, or of SQLite without anything of ours.
Status check_owner(Database& database, const std::filesystem::path& file, std::int64_t version) {
  const Result<std::int64_t> application = database.number("PRAGMA application_id");
  if (!application) return application.error();
  if (*application == kApplication) return Done{};
  const Result<std::int64_t> tables = database.number("SELECT count(*) FROM sqlite_schema");
  if (!tables) return tables.error();
  if (*application == 0 && *tables == 0 && version == 0) return Done{};
  return Error{fmt::format(
      "{}: a database of another program; name another state folder, or move the file away",
      file.string())};
}

}  // namespace

std::span<const std::string_view> store_migrations() { return kSteps; }

Status migrate(Database& database, const std::filesystem::path& file,
               std::span<const std::string_view> steps) {
  const Result<std::int64_t> version = database.number("PRAGMA user_version");
  if (!version) return version.error();
  if (Status ours = check_owner(database, file, *version); !ours) return ours;
  const auto known = static_cast<std::int64_t>(steps.size());
  if (*version > known) {
    return Error{
        fmt::format("{}: written by a later Muster (version {} of the store, this one "
                    "knows up to {}); start that one, or a newer one",
                    file.string(), *version, known)};
  }
  for (std::int64_t next = *version; next < known; ++next) {
    const std::string whole =
        fmt::format("BEGIN IMMEDIATE;{};PRAGMA application_id = {};PRAGMA user_version = {};COMMIT",
                    steps[static_cast<std::size_t>(next)], kApplication, next + 1);
    if (Status step = database.execute(whole); !step) {
      // Without effect where SQLite has rolled back already.
      const Status undone = database.execute("ROLLBACK");
      static_cast<void>(undone);
      return Error{fmt::format("{} (while bringing the store to version {})", step.error().message,
                               next + 1)};
    }
  }
  return Done{};
}

}  // namespace muster
