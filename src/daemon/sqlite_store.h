// The store of a real daemon: SQLite with a write-ahead log and full synchronisation, in the file
// state.db of the state folder.
#pragma once

#include <filesystem>
#include <memory>

#include "daemon/sqlite.h"
#include "daemon/state_directory.h"
#include "daemon/store.h"

namespace muster {

class SqliteStore final : public Store {
 public:
  // Takes the folder's lock, makes or migrates the tables, looks for damage, and begins a new
  // generation. `before_statement` is for tests that crash.
  static Result<std::unique_ptr<SqliteStore>> open(const std::filesystem::path& directory,
                                                   std::function<void()> before_statement = {});
  ~SqliteStore() override;

  Status commit(std::span<const Batch> batches) override;
  Result<StoredWorld> load() override;
  Result<std::vector<StoredDecision>> decisions(JobId job) override;

  const StateDirectory& directory() const { return directory_; }

 private:
  struct Statements;
  SqliteStore(StateDirectory directory, std::unique_ptr<Database> database);
  Status write(const Batch& batch);

  StateDirectory directory_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<Statements> statements_;
};

}  // namespace muster
