// The trace formats Muster reads. One table drives detection, `--format`, `--help`, the
// documentation and the messages; a format is added by writing its parser and adding its row.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/params.h"
#include "base/result.h"
#include "base/symbols.h"
#include "workload/trace_parser.h"

namespace muster {

using ParserMaker = Result<std::unique_ptr<TraceParser>> (*)(const Params&, Symbols&);

struct TraceFormat {
  std::string_view name;                             // as given to --format
  std::string_view sentence;                         // what it is
  std::string_view source;                           // who writes such files
  enum class Shape { kTable, kLines, kJson } shape;  // a table's first line names its columns
  bool (*matches)(std::string_view head);            // by the first bytes of a file
  ParserMaker make;
  ParamList (*settings)();  // the format's own settings
  // Whether a line begins a record, by the header's: texts in a record may have line ends. Null:
  // each line is a record.
  bool (*begins)(std::string_view header, std::string_view line) = nullptr;
};

std::span<const TraceFormat> trace_formats();

// The format of that name; its error lists the names.
Result<const TraceFormat*> find_trace_format(std::string_view name);

// The format that the first bytes of a file speak for; null if none does.
const TraceFormat* detect_trace_format(std::string_view head);

std::vector<std::string_view> trace_format_names();

}  // namespace muster
