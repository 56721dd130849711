// The report: one HTML file that needs nothing else, for one run or a comparison of several.
//
// Text and tables are written here and need no JavaScript; the page draws the plots from data
// embedded as JSON. Curves and timelines are down-sampled, so the size depends on the number of
// runs, not on the number of jobs.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "learn/ebm.h"
#include "report/page_run.h"

namespace muster {

struct PageOptions {
  std::string title = {};        // empty: made from the runs
  const Ebm* model = nullptr;    // shown with its effects; must outlive the call
  std::vector<double> row = {};  // an answer of the model to take apart; empty: none
  // Runs that should be here too, of a comparison that was interrupted.
  std::vector<std::string> missing = {};
};

std::string report_page(const std::vector<PageRun>& runs, const PageOptions& options = {});

// Writes the page next to `path` and moves it there when it is complete; an older file is replaced.
Status write_report(const std::string& path, const std::vector<PageRun>& runs,
                    const PageOptions& options = {});

// What stands at the top, in one or two sentences.
std::string headline(const std::vector<PageRun>& runs);

}  // namespace muster
