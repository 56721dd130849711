// A parser for traces that are tables with a header line: most formats are no more than a list of
// columns, each with the field of the job it fills, its unit and a sentence. The same list is what
// the documentation and the error messages are made from.
//
// Columns may stand in any order; those the list does not name are ignored. A format whose fields
// need more than a unit derives from it and completes the job in finish().
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workload/trace_parser.h"

namespace muster {

enum class TraceField : unsigned char {
  kIgnored,
  kName,
  kSubmit,        // seconds, times the column's unit
  kSubmitClock,   // a timestamp
  kSubmitEither,  // seconds or a timestamp
  kDuration,
  kGpus,
  kMinGpus,
  kMaxGpus,
  kDeadline,
  kValue,
  kLater,  // TIME:VALUE, ';' between
  kEstimate,
  kCpus,
  kMemory,
  kIterations,
  kBatchSize,
  kPriority,
  kModel,
  kUser,
  kPartition,
  kGpuType,
  kStatus,
  kNumber,  // kept for finish(): number(slot)
  kText,    // kept for finish(): text(slot)
};

struct TraceColumn {
  std::string_view names;  // as in the header; alternatives with '|' between, the usual one first
  TraceField field = TraceField::kIgnored;
  std::string_view sentence;
  bool required = false;
  double unit = 1;       // one of the trace's in ours
  std::size_t slot = 0;  // for kNumber and kText, below kSlots
};

inline constexpr std::size_t kSlots = 10;

struct TableSchema {
  std::span<const TraceColumn> columns;
  char separator = ',';
  bool note_unknown = false;  // say which columns were ignored: they may be misspelled
  bool quotes = true;         // cells may be quoted
};

class TableParser : public TraceParser {
 public:
  TableParser(const TableSchema& schema, Symbols& symbols) : schema_(schema), symbols_(symbols) {}

  Status header(std::string_view line) override;
  Parsed parse(std::string_view record, JobSpec& job) override;

 protected:
  // Completes the job from the kept texts and numbers.
  virtual Parsed finish(JobSpec&) { return Parsed::kJob; }

  // Empty, or not a number, where the column is absent or the cell empty.
  const std::string& text(std::size_t slot) const { return texts_[slot]; }
  double number(std::size_t slot) const { return numbers_[slot]; }
  bool has(std::size_t slot) const { return numbers_[slot] == numbers_[slot]; }
  // The complaint about a kept cell.
  Parsed bad_cell(TraceField field, std::size_t slot, std::string_view found,
                  std::string_view expected);
  Symbols& symbols() { return symbols_; }

 private:
  struct Target {
    TraceField field = TraceField::kIgnored;
    bool required = false;
    double unit = 1;
    std::size_t slot = 0;
    std::string name;
    std::string last_text;  // the text last interned in this column, and its symbol
    Symbol last_symbol = kNoSymbol;
  };

  Symbol intern(Target& target, std::string_view text);
  bool store(Target& target, std::string_view cell, JobSpec& job);
  Parsed wrong_count(std::size_t count);

  TableSchema schema_;
  Symbols& symbols_;
  std::vector<Target> targets_;  // by position in the header
  std::string texts_[kSlots];
  double numbers_[kSlots] = {};
  std::string unquoted_;
  bool keeps_ = false;  // some column is kept for finish()
};

// Cuts a line at the separator, honouring "quoted, cells" with doubled quotes inside; cells are
// trimmed.
std::vector<std::string> split_cells(std::string_view line, char separator);

// Whether any of the alternatives "a|b|c" is `name`.
bool is_named(std::string_view alternatives, std::string_view name);

// What a cell of this kind must hold, for messages.
std::string_view field_expectation(TraceField field);

}  // namespace muster
