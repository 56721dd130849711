// The pieces of the report page: each a function from runs to text. Only html.cc puts them
// together.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/html_text.h"
#include "report/page_run.h"

namespace muster {

std::vector<const RunInfo*> infos_of(const std::vector<PageRun>& runs);

// Tables.
std::string headline_table(const std::vector<PageRun>& runs);   // the few figures that matter most
std::string figures_section(const std::vector<PageRun>& runs);  // all of them
std::string curve_table(const std::vector<PageRun>& runs,
                        std::vector<CurvePoint> RunSummary::*curve);
std::string timeline_table(const std::vector<PageRun>& runs);
// Why jobs waited, for a wait of RunSummary::waits.
std::string wait_text(bool held, Reason reason);
std::string waits_table(const std::vector<PageRun>& runs);
std::string groups_table(const std::vector<PageRun>& runs,
                         std::vector<GroupRow> RunSummary::*groups, std::string_view label,
                         std::size_t most_rows);
std::string decisions_table(const std::vector<PageRun>& runs);
std::string settings_section(const std::vector<PageRun>& runs);

// GPU counts in steps of powers of two: "1", "2", "3–4", "5–8".
std::vector<GroupRow> size_steps(const std::vector<GroupRow>& sizes);

// What the plots are drawn from.
std::string page_data(const std::vector<PageRun>& runs);

// The style sheet and the two scripts of the page.
std::string_view page_style();
std::string_view plot_script();
std::string_view page_script();

}  // namespace muster
