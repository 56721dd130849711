#include "daemon/sqlite.h"

#include <sqlite3.h>
#include <utility>

#include <fmt/format.h>

namespace muster {
namespace {

// What a person can do about it.
std::string_view remedy(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "; nothing was changed: free some space on that disk";
    case SQLITE_IOERR:
      return "; nothing was changed: look at the disk and its free space";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "; the file is damaged: move it away and put a copy from your backup in its place";
    case SQLITE_BUSY:
      return "; another program has the file open for writing: end it";
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return "; check the owner of the folder, and that it may be written to";
    default:
      return "";
  }
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Statement::bind(int column, double value) {
  sqlite3_bind_double(statement_.get(), column, value);
}
void Statement::bind(int column, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), column, value);
}
void Statement::bind(int column, std::string_view value) {
  sqlite3_bind_text64(statement_.get(), column, value.data(), value.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
}

Result<bool> Statement::step() {
  if (database_->before_statement) database_->before_statement();
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  const Error error = database_->error();
  reset();
  return error;
}

Status Statement::run() {
  const Result<bool> row = step();
  if (!row) return row.error();
  reset();
  return Done{};
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }
std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}
std::string Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

Result<std::unique_ptr<Database>> Database::open(const std::filesystem::path& file) {
  std::unique_ptr<Database> database(new Database(file));
  const int code =
      sqlite3_open_v2(file.c_str(), &database->handle_,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
  if (code != SQLITE_OK) return database->error();
  sqlite3_extended_result_codes(database->handle_, 1);
  sqlite3_busy_timeout(database->handle_, 2000);  // a person may be reading the tables
  return database;
}

Database::~Database() { sqlite3_close_v2(handle_); }

Error Database::error() const {
  const int code = handle_ == nullptr ? SQLITE_NOMEM : sqlite3_extended_errcode(handle_);
  const char* words = handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_);
  return Error{fmt::format("{}: {}{}", file_.string(), words, remedy(code))};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* made = nullptr;
  if (sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &made, nullptr) != SQLITE_OK) {
    return error();
  }
  Statement statement;
  statement.statement_.reset(made);
  statement.database_ = this;
  return statement;
}

Status Database::execute(const std::string& sql) {
  if (before_statement) before_statement();
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return error();
  return Done{};
}

Result<std::int64_t> Database::number(std::string_view sql) {
  Result<Statement> statement = prepare(sql);
  if (!statement) return statement.error();
  const Result<bool> row = statement->step();
  if (!row) return row.error();
  return *row ? statement->integer(0) : 0;
}

Result<std::string> Database::text(std::string_view sql) {
  Result<Statement> statement = prepare(sql);
  if (!statement) return statement.error();
  const Result<bool> row = statement->step();
  if (!row) return row.error();
  return *row ? statement->text(0) : std::string();
}

}  // namespace muster
