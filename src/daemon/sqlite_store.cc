#include "daemon/sqlite_store.h"

#include <utility>

#include <fmt/format.h>

#include "daemon/migrations.h"
#include "daemon/stored_rows.h"

namespace muster {
namespace {

// Binds members to parameters, in order.
struct Binder {
  Statement& statement;
  int column = 0;

  void operator()(const char*, const std::string& value) { statement.bind(++column, value); }
  void operator()(const char*, double value) { statement.bind(++column, value); }
  void operator()(const char*, std::int64_t value) { statement.bind(++column, value); }
  void operator()(const char*, std::uint32_t value) { bind_integer(value); }
  void operator()(const char*, bool value) { bind_integer(value ? 1 : 0); }
  void operator()(const char*, JobId value) { bind_integer(index(value)); }
  void operator()(const char*, NodeId value) { bind_integer(index(value)); }
  void operator()(const char*, Sharing value) { bind_integer(value == Sharing::kShared ? 1 : 0); }
  void operator()(const char*, RunState value) { statement.bind(++column, run_state_name(value)); }
  void operator()(const char*, RunOutcome value) {
    statement.bind(++column, run_outcome_name(value));
  }
  void operator()(const char*, const GpuSet& value) { statement.bind(++column, gpus_text(value)); }

 private:
  void bind_integer(std::uint64_t value) {
    statement.bind(++column, static_cast<std::int64_t>(value));
  }
};

// Reads members from columns, in order; notes the first value that makes no sense.
struct Reader {
  const Statement& statement;
  int column = 0;
  std::string wrong;

  void operator()(const char*, std::string& value) { value = statement.text(column++); }
  void operator()(const char*, double& value) { value = statement.real(column++); }
  void operator()(const char*, std::int64_t& value) { value = statement.integer(column++); }
  void operator()(const char*, std::uint32_t& value) {
    value = static_cast<std::uint32_t>(statement.integer(column++));
  }
  void operator()(const char*, bool& value) { value = statement.integer(column++) != 0; }
  void operator()(const char*, JobId& value) {
    value = JobId{static_cast<std::uint32_t>(statement.integer(column++))};
  }
  void operator()(const char*, NodeId& value) {
    value = NodeId{static_cast<std::uint32_t>(statement.integer(column++))};
  }
  void operator()(const char*, Sharing& value) {
    value = statement.integer(column++) != 0 ? Sharing::kShared : Sharing::kExclusive;
  }
  void operator()(const char* name, RunState& value) {
    by_name(name, value, kRunStates, run_state_name);
  }
  void operator()(const char* name, RunOutcome& value) {
    by_name(name, value, 3, run_outcome_name);
  }
  void operator()(const char* name, GpuSet& value) {
    Result<GpuSet> gpus = parse_gpus(statement.text(column++));
    if (gpus) {
      value = *gpus;
    } else if (wrong.empty()) {
      wrong = fmt::format("column '{}': {}", name, gpus.error().message);
    }
  }

 private:
  template <typename Enum, typename Name>
  void by_name(const char* name, Enum& value, std::size_t count, Name name_of) {
    const std::string text = statement.text(column++);
    for (std::size_t i = 0; i < count; ++i) {
      if (name_of(static_cast<Enum>(i)) == text) {
        value = static_cast<Enum>(i);
        return;
      }
    }
    if (wrong.empty()) wrong = fmt::format("column '{}': '{}' is unknown here", name, text);
  }
};

template <typename Row>
std::string columns_of() {
  std::string list;
  Row row;
  visit_columns(row, [&](const char* name, const auto&) {
    list += fmt::format("{}{}", list.empty() ? "" : ", ", name);
  });
  return list;
}

template <typename Row>
std::string insert_into(std::string_view table) {
  std::string marks;
  Row row;
  visit_columns(row, [&](const char*, const auto&) { marks += marks.empty() ? "?" : ", ?"; });
  return fmt::format("INSERT OR REPLACE INTO {} ({}) VALUES ({})", table, columns_of<Row>(), marks);
}

template <typename Row>
Status put(Statement& statement, const Row& row) {
  Binder binder{statement};
  visit_columns(row, binder);
  return statement.run();
}

template <typename Row>
Status read_rows(Statement& statement, std::vector<Row>& rows) {
  while (true) {
    const Result<bool> more = statement.step();
    if (!more) return more.error();
    if (!*more) return Done{};
    Reader reader{statement, 0, {}};
    visit_columns(rows.emplace_back(), reader);
    if (!reader.wrong.empty()) return Error{reader.wrong};
  }
}

template <typename Row>
Status read_table(Database& database, std::string_view table, std::string_view order,
                  std::vector<Row>& rows) {
  Result<Statement> statement = database.prepare(
      fmt::format("SELECT {} FROM {} ORDER BY {}", columns_of<Row>(), table, order));
  if (!statement) return statement.error();
  if (Status read = read_rows(*statement, rows); !read) {
    return Error{fmt::format("table '{}': {}", table, read.error().message)};
  }
  return Done{};
}

constexpr std::string_view kGeneration = "generation";
// Notes of the daemon are kept apart from our own.
constexpr std::string_view kNotePrefix = "note ";

Status set_up(Database& database, const std::filesystem::path& file) {
  if (Status sync = database.execute("PRAGMA synchronous = FULL"); !sync) {
    return sync;
  }
  const Result<std::string> journal = database.text("PRAGMA journal_mode = WAL");
  if (!journal) return journal.error();
  if (*journal != "wal") {
    return Error{
        fmt::format("{}: this file system cannot keep a write-ahead log (SQLite answers "
                    "'{}'); put the state folder on a local disk",
                    file.string(), *journal)};
  }
  const Result<std::string> check = database.text("PRAGMA quick_check(1)");
  if (!check) return check.error();
  if (*check != "ok") {
    return Error{
        fmt::format("{}: the file is damaged ({}): move it away and put a copy from your "
                    "backup in its place",
                    file.string(), *check)};
  }
  return migrate(database, file, store_migrations());
}

}  // namespace

struct SqliteStore::Statements {
  Statement job, run, node, user, decision, note;
  Statement forget_job, forget_job_runs, forget_job_decisions, forget_run, forget_user;
  Statement begin, commit, rollback;

  Status prepare(Database& database) {
    const std::pair<Statement*, std::string> all[] = {
        {&job, insert_into<StoredJob>("jobs")},
        {&run, insert_into<StoredRun>("runs")},
        {&node, insert_into<StoredNode>("nodes")},
        {&user, insert_into<StoredUser>("users")},
        {&decision, insert_into<StoredDecision>("decisions")},
        {&note, "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)"},
        {&forget_job, "DELETE FROM jobs WHERE id = ?"},
        {&forget_job_runs, "DELETE FROM runs WHERE job = ?"},
        {&forget_job_decisions, "DELETE FROM decisions WHERE job = ?"},
        {&forget_run, "DELETE FROM runs WHERE job = ? AND launch = ?"},
        {&forget_user, "DELETE FROM users WHERE name = ?"},
        {&begin, "BEGIN IMMEDIATE"},
        {&commit, "COMMIT"},
        {&rollback, "ROLLBACK"},
    };
    for (const auto& [statement, sql] : all) {
      Result<Statement> made = database.prepare(sql);
      if (!made) return made.error();
      *statement = std::move(*made);
    }
    return Done{};
  }
};

SqliteStore::SqliteStore(StateDirectory directory, std::unique_ptr<Database> database)
    : directory_(std::move(directory)),
      database_(std::move(database)),
      statements_(std::make_unique<Statements>()) {}

SqliteStore::~SqliteStore() = default;

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::filesystem::path& directory,
                                                       std::function<void()> before_statement) {
  Result<StateDirectory> state = StateDirectory::open(directory);
  if (!state) return state.error();
  const std::filesystem::path file = state->path() / "state.db";
  Result<std::unique_ptr<Database>> database = Database::open(file);
  if (!database) return database.error();
  (*database)->before_statement = std::move(before_statement);
  if (Status ready = set_up(**database, file); !ready) return ready.error();
  Status generation = (*database)->execute(
      fmt::format("INSERT INTO meta VALUES ('{0}', '1') ON CONFLICT (key) DO UPDATE SET "
                  "value = CAST(CAST(value AS INTEGER) + 1 AS TEXT)",
                  kGeneration));
  if (!generation) return generation.error();
  std::unique_ptr<SqliteStore> store(new SqliteStore(std::move(*state), std::move(*database)));
  if (Status ready = store->statements_->prepare(*store->database_); !ready) return ready.error();
  return store;
}

Status SqliteStore::write(const Batch& batch) {
  Statements& to = *statements_;
  Status status = Done{};
  const auto all = [&status](const auto& rows, auto one) {
    for (auto row = rows.begin(); status && row != rows.end(); ++row) status = one(*row);
  };
  all(batch.jobs, [&](const StoredJob& row) { return put(to.job, row); });
  all(batch.runs, [&](const StoredRun& row) { return put(to.run, row); });
  all(batch.nodes, [&](const StoredNode& row) { return put(to.node, row); });
  all(batch.users, [&](const StoredUser& row) { return put(to.user, row); });
  all(batch.decisions, [&](const StoredDecision& row) { return put(to.decision, row); });
  all(batch.notes, [&](const auto& row) {
    to.note.bind(1, std::string(kNotePrefix) + row.first);
    to.note.bind(2, row.second);
    return to.note.run();
  });
  const auto number = [](auto id) { return static_cast<std::int64_t>(id); };
  for (Statement* statement : {&to.forget_job, &to.forget_job_runs, &to.forget_job_decisions}) {
    all(batch.forgotten_jobs, [&](JobId job) {
      statement->bind(1, number(job));
      return statement->run();
    });
  }
  all(batch.forgotten_runs, [&](RunId run) {
    to.forget_run.bind(1, number(run.job));
    to.forget_run.bind(2, number(run.launch));
    return to.forget_run.run();
  });
  all(batch.forgotten_users, [&](const std::string& user) {
    to.forget_user.bind(1, user);
    return to.forget_user.run();
  });
  return status;
}

Status SqliteStore::commit(std::span<const Batch> batches) {
  Status status = statements_->begin.run();
  if (!status) return status;
  for (auto batch = batches.begin(); status && batch != batches.end(); ++batch) {
    status = write(*batch);
  }
  if (status) status = statements_->commit.run();
  if (!status) {
    // SQLite rolls some failures back by itself; a second time has no effect.
    const Status undone = statements_->rollback.run();
    static_cast<void>(undone);
  }
  return status;
}

Result<StoredWorld> SqliteStore::load() {
  StoredWorld world;
  const auto failed = [this](const Status& status) {
    return Error{
        fmt::format("{}: {}", (directory_.path() / "state.db").string(), status.error().message)};
  };
  if (Status s = read_table(*database_, "jobs", "id", world.jobs); !s) return failed(s);
  if (Status s = read_table(*database_, "runs", "job, launch", world.runs); !s) return failed(s);
  if (Status s = read_table(*database_, "nodes", "id", world.nodes); !s) return failed(s);
  if (Status s = read_table(*database_, "users", "name", world.users); !s) return failed(s);
  Result<Statement> meta = database_->prepare("SELECT key, value FROM meta");
  if (!meta) return meta.error();
  while (true) {
    const Result<bool> row = meta->step();
    if (!row) return row.error();
    if (!*row) break;
    const std::string key = meta->text(0);
    if (key.starts_with(kNotePrefix)) {
      world.notes[key.substr(kNotePrefix.size())] = meta->text(1);
    } else if (key == kGeneration) {
      world.generation = meta->integer(1);
    }
  }
  const Result<std::int64_t> next =
      database_->number("SELECT seq + 1 FROM sqlite_sequence WHERE name = 'decisions'");
  if (!next) return next.error();
  world.next_decision = *next;
  return world;
}

Result<std::vector<StoredDecision>> SqliteStore::decisions(JobId job) {
  Result<Statement> statement = database_->prepare(fmt::format(
      "SELECT {} FROM decisions WHERE job = ? ORDER BY sequence", columns_of<StoredDecision>()));
  if (!statement) return statement.error();
  statement->bind(1, static_cast<std::int64_t>(index(job)));
  std::vector<StoredDecision> found;
  if (Status read = read_rows(*statement, found); !read) return read.error();
  return found;
}

}  // namespace muster
