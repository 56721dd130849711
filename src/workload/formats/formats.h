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
ParserResult make_philly_json(const Params& settings, Symbols& symbols);
ParserResult make_itp(const Params& settings, Symbols& symbols);
ParserResult make_elasticflow(const Params& settings, Symbols& symbols);
ParserResult make_gavel(const Params& settings, Symbols& symbols);
ParserResult make_muri(const Params& settings, Symbols& symbols);
ParserResult make_tiresias(const Params& settings, Symbols& symbols);
ParserResult make_chronus(const Params& settings, Symbols& symbols);
ParserResult make_helios(const Params& settings, Symbols& symbols);
ParserResult make_openb(const Params& settings, Symbols& symbols);
ParserResult make_swf(const Params& settings, Symbols& symbols);
ParserResult make_sacct(const Params& settings, Symbols& symbols);

bool matches_native(std::string_view head);
bool matches_philly_csv(std::string_view head);
bool matches_philly_json(std::string_view head);
bool matches_itp(std::string_view head);
bool matches_elasticflow(std::string_view head);
bool matches_gavel(std::string_view head);
bool matches_muri(std::string_view head);
bool matches_tiresias(std::string_view head);
bool matches_chronus(std::string_view head);
bool matches_helios(std::string_view head);
bool matches_openb(std::string_view head);
bool matches_swf(std::string_view head);
bool matches_sacct(std::string_view head);

ParamList philly_json_settings();
ParamList gavel_settings();
ParamList itp_settings();
ParamList swf_settings();
ParamList sacct_settings();

// Whether a line begins a record of sacct: names of jobs may have line ends.
bool begins_sacct(std::string_view header, std::string_view line);

}  // namespace muster
