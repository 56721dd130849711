// What the parsers of the single formats offer to the table of formats (workload/trace_format.cc).
#pragma once

#include <initializer_list>
#include <memory>
#include <string_view>

#include "base/params.h"
#include "base/result.h"
#include "base/symbols.h"
#include "workload/trace_parser.h"

namespace muster {

using ParserResult = Result<std::unique_ptr<TraceParser>>;

// The first line of a file's beginning that is not blank.
std::string_view first_line(std::string_view head);

// Whether the first line is a header that names all these columns; "a|b" is one that is named a or
// b.
bool header_names(std::string_view head, char separator,
                  std::initializer_list<std::string_view> columns);

ParserResult make_native(const Params& settings, Symbols& symbols);
ParserResult make_philly_csv(const Params& settings, Symbols& symbols);

bool matches_native(std::string_view head);
bool matches_philly_csv(std::string_view head);

}  // namespace muster
