// SQLite as values and results: a database, prepared statements, and errors that name the file and
// the remedy. Only sqlite.cc sees the library's header.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace muster {

class Statement {
 public:
  void bind(int column, double value);
  void bind(int column, std::int64_t value);
  void bind(int column, std::string_view value);

  // One row further: true if there is one.
  Result<bool> step();
  // A statement without rows, from its parameters to its end; ready for the next ones after that.
  Status run();
  void reset();

  double real(int column) const;
  std::int64_t integer(int column) const;
  std::string text(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  class Database* database_ = nullptr;
};

class Database {
 public:
  // Opens the file, or makes it.
  static Result<std::unique_ptr<Database>> open(const std::filesystem::path& file);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  Result<Statement> prepare(std::string_view sql);
  // One or more statements that return nothing we want.
  Status execute(const std::string& sql);
  Result<std::int64_t> number(std::string_view sql);
  Result<std::string> text(std::string_view sql);

  // Called before every statement; tests crash here.
  std::function<void()> before_statement;

 private:
  friend class Statement;
  explicit Database(std::filesystem::path file) : file_(std::move(file)) {}
  Error error() const;

  std::filesystem::path file_;
  sqlite3* handle_ = nullptr;
};

}  // namespace muster
