#include "report/html.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/out_file.h"
#include "learn/model_page.h"
#include "report/html_parts.h"
#include "report/refusals.h"

namespace muster {
namespace {

const Metrics& metrics_of(const PageRun& run) { return run.summary.metrics; }

std::string one_run(const PageRun& run) {
  const Metrics& metrics = metrics_of(run);
  const std::string gpus =
      metrics.cluster_gpus > 0 ? fmt::format(" on {} GPUs", count_text(metrics.cluster_gpus)) : "";
  if (metrics.finished == 0) {
    return fmt::format("None of {} jobs{} finished.", count_text(metrics.jobs), gpus);
  }
  std::string text = fmt::format("{} jobs{}: half finished within {} of submission",
                                 count_text(metrics.jobs), gpus, duration_text(metrics.p50_jct_s));
  if (std::isfinite(metrics.utilization)) {
    text += fmt::format(", with {:.0f} % of the GPUs in use", metrics.utilization * 100);
  }
  if (std::isfinite(metrics.busy_utilization)) {
    text += fmt::format(", {:.0f} % while jobs still came", metrics.busy_utilization * 100);
  }
  return text + ".";
}

std::string gain_text(double fast, double slow) {
  const double factor = slow / fast;
  return factor < 2 ? fmt::format("{:.2g} % less", (1 - 1 / factor) * 100)
                    : fmt::format("{:.2g} times faster", factor);
}

// The fastest of those that do not know how long jobs will run, where that is not the baseline.
std::string best_without_truth(const std::vector<const PageRun*>& fastest_first,
                               const PageRun& baseline) {
  for (const PageRun* run : fastest_first) {
    if (run->info.clairvoyant) continue;
    if (run == &baseline) return "";
    return fmt::format("; {} does not either, and takes {}", run->info.label,
                       duration_text(metrics_of(*run).avg_jct_s));
  }
  return "";
}

std::string several_runs(const std::vector<PageRun>& runs) {
  std::vector<const PageRun*> order;
  for (const PageRun& run : runs) {
    if (std::isfinite(metrics_of(run).avg_jct_s)) order.push_back(&run);
  }
  if (order.size() < 2) return fmt::format("{} runs.", runs.size());
  if (!comparable(infos_of(runs))) {
    return fmt::format("{} runs, not all of the same jobs on the same cluster.", runs.size());
  }
  std::stable_sort(order.begin(), order.end(), [](const PageRun* a, const PageRun* b) {
    return metrics_of(*a).avg_jct_s < metrics_of(*b).avg_jct_s;
  });
  const PageRun& best = *order.front();
  // Against the first run, which people put first as the baseline; when that is the best, against
  // the worst.
  const PageRun& other = &best == &runs.front() ? *order.back() : runs.front();
  if (!std::isfinite(metrics_of(other).avg_jct_s)) return fmt::format("{} runs.", runs.size());
  const double fast = metrics_of(best).avg_jct_s;
  const double slow = metrics_of(other).avg_jct_s;
  if (fast == slow) return fmt::format("All {} runs take equally long on average.", order.size());
  std::string text =
      fmt::format("Jobs take {} on average with {}, against {} with {}: {}.", duration_text(fast),
                  best.info.label, duration_text(slow), other.info.label, gain_text(fast, slow));
  if (best.info.clairvoyant && !other.info.clairvoyant) {
    text += fmt::format(" But {} knows how long jobs will run, and {} does not{}.", best.info.label,
                        other.info.label, best_without_truth(order, other));
  }
  const double tail = metrics_of(best).p99_jct_s;
  const double other_tail = metrics_of(other).p99_jct_s;
  if (tail > 1.05 * other_tail) {
    text += fmt::format(" The slowest 1 % pay for it: {} against {}.", duration_text(tail),
                        duration_text(other_tail));
  }
  return text;
}

std::string page_title(const std::vector<PageRun>& runs, const PageOptions& options) {
  if (!options.title.empty()) return options.title;
  if (runs.size() == 1 && !runs.front().info.label.empty()) return runs.front().info.label;
  return runs.size() == 1 ? std::string("One run") : fmt::format("{} runs compared", runs.size());
}

// A number and its unit stay on one line.
std::string unbroken(std::string_view text) {
  const std::string escaped = escape_html(text);
  std::string out;
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    const bool after_digit = i > 0 && std::isdigit(static_cast<unsigned char>(escaped[i - 1])) != 0;
    const bool before_unit =
        i + 1 < escaped.size() &&
        std::string_view("dhms%").find(escaped[i + 1]) != std::string_view::npos;
    if (escaped[i] == ' ' && after_digit && before_unit) {
      out += "&nbsp;";
    } else {
      out.push_back(escaped[i]);
    }
  }
  return out;
}

std::string warnings(const std::vector<PageRun>& runs, const PageOptions& options) {
  std::string out;
  if (!options.missing.empty()) {
    out += fmt::format(
        "<p class=\"warning\" role=\"note\">The comparison was interrupted. Missing: {}.</p>\n",
        escape_html(fmt::format("{}", fmt::join(options.missing, ", "))));
  }
  for (const PageRun& run : runs) {
    for (const std::string& sentence : refusal_warnings(run.info, run.summary)) {
      out += fmt::format("<p class=\"warning\" role=\"note\"><strong>{}</strong>: {}.</p>\n",
                         escape_html(run.info.label), escape_html(sentence));
    }
    for (const std::string& sentence : run.info.warnings) {
      out += fmt::format("<p class=\"warning\" role=\"note\"><strong>{}</strong>: {}.</p>\n",
                         escape_html(run.info.label), escape_html(sentence));
    }
    for (const std::string& sentence : run.info.notes) {
      out += fmt::format("<p class=\"note\"><strong>{}</strong>: {}.</p>\n",
                         escape_html(run.info.label), escape_html(sentence));
    }
    if (run.complete) continue;
    out += fmt::format(
        "<p class=\"warning\" role=\"note\"><strong>{}</strong> is incomplete: {}.</p>\n",
        escape_html(run.info.label),
        escape_html(run.incomplete_because.empty() ? "it was stopped" : run.incomplete_because));
  }
  return out;
}

struct Figure {
  std::string_view id;
  std::string_view title;
  std::string_view caption;
};

std::string figure(const Figure& content, const std::string& table) {
  return fmt::format(
      "<figure class=\"plot\" id=\"{0}\">\n<figcaption><h3>{1}</h3><p>{2}</p></figcaption>\n"
      "<div class=\"canvas\" data-plot=\"{0}\"></div>\n"
      "<details><summary>As a table</summary>{3}</details>\n</figure>\n",
      content.id, content.title, content.caption, table);
}

std::string section(std::string_view title, const std::string& content) {
  return fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", title, content);
}

std::string plots(const std::vector<PageRun>& runs) {
  std::string out = "<div class=\"pair\">\n";
  out += figure({"jct", "Completion time", "CDF of completion time over finished jobs."},
                curve_table(runs, &RunSummary::jct_curve));
  out += figure({"queue", "Queueing time", "CDF of total queueing time over finished jobs."},
                curve_table(runs, &RunSummary::queue_curve));
  out += "</div>\n<div class=\"pair\">\n";
  const std::string table = timeline_table(runs);
  out += figure({"utilisation", "GPUs in use", "Fraction of usable GPUs in use over time."}, table);
  out += figure(
      {"waiting", "Queue length", "Jobs waiting for GPUs or held by admission over time."}, table);
  return out + "</div>\n";
}

std::string details(const std::vector<PageRun>& runs) {
  std::vector<PageRun> stepped = runs;
  for (PageRun& run : stepped) run.summary.sizes = size_steps(run.summary.sizes);
  std::string out = "<div class=\"pair\">\n";
  out +=
      figure({"sizes", "Completion time by GPU count", "Average completion time of finished jobs."},
             groups_table(stepped, &RunSummary::sizes, "GPUs", 20));
  out += figure({"waits", "Why jobs waited",
                 "Job-hours of queueing, by what kept the first job in line from running."},
                waits_table(runs));
  return out + "</div>\n";
}

bool any_groups(const std::vector<PageRun>& runs, std::vector<GroupRow> RunSummary::*groups) {
  return std::any_of(runs.begin(), runs.end(), [&](const PageRun& run) {
    const auto& rows = run.summary.*groups;
    return rows.size() > 1 || (rows.size() == 1 && !rows.front().name.empty());
  });
}

std::string group_sections(const std::vector<PageRun>& runs) {
  std::string out;
  if (any_groups(runs, &RunSummary::partitions)) {
    out += section("Partitions", groups_table(runs, &RunSummary::partitions, "partition", 50));
  }
  if (any_groups(runs, &RunSummary::users)) {
    out +=
        section("Users with the most GPU time", groups_table(runs, &RunSummary::users, "user", 15));
  }
  return out;
}

std::string gantt_section(const std::vector<PageRun>& runs) {
  const bool any = std::any_of(runs.begin(), runs.end(),
                               [](const PageRun& run) { return run.gantt.has_value(); });
  if (!any) return "";
  return section(
      "The busiest moment",
      "<figure class=\"plot wide\" id=\"gantt\">\n<figcaption><p>One row per job: pale while it "
      "waits, solid while it runs. <span class=\"choice\"></span></p></figcaption>\n<div "
      "class=\"canvas\" data-plot=\"gantt\"></div>\n</figure>\n");
}

}  // namespace

std::string headline(const std::vector<PageRun>& runs) {
  if (runs.empty()) return "No runs.";
  return runs.size() == 1 ? one_run(runs.front()) : several_runs(runs);
}

std::string report_page(const std::vector<PageRun>& runs, const PageOptions& options) {
  std::string out;
  out += "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  out += "<meta name=\"color-scheme\" content=\"light dark\">\n";
  out += "<meta name=\"generator\" content=\"muster " MUSTER_VERSION "\">\n";
  // Nothing may be loaded from anywhere, whatever the data say.
  out +=
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; "
      "script-src 'unsafe-inline'; img-src data:\">\n";
  out += fmt::format("<title>{} · Muster</title>\n", escape_html(page_title(runs, options)));
  out += fmt::format("<style>{}{}</style>\n</head>\n<body>\n", page_style(),
                     options.model != nullptr ? model_style() : std::string_view());
  out += fmt::format("<header>\n<p class=\"kicker\">Muster<span>{}</span></p>\n<h1>{}</h1>\n",
                     escape_html(page_title(runs, options)), unbroken(headline(runs)));
  out += warnings(runs, options) + "</header>\n<main>\n";
  out += section("Figures", headline_table(runs));
  if (runs.size() > 1) out += "<nav class=\"legend\" aria-label=\"Runs\"></nav>\n";
  out +=
      "<noscript><p class=\"warning\">The plots need JavaScript; the tables below them hold the "
      "same "
      "figures.</p></noscript>\n";
  out += section("Jobs and GPUs", plots(runs));
  out +=
      section(runs.size() > 1 ? "What made the difference" : "Where the time went", details(runs));
  out += group_sections(runs);
  out += gantt_section(runs);
  if (options.model != nullptr) {
    out += section("What the estimates are based on", model_sections(*options.model, options.row));
  }
  out += section("Decisions", decisions_table(runs));
  out += section("All figures", figures_section(runs));
  out += section("Settings", settings_section(runs));
  out += "</main>\n<footer><p>Made by muster " MUSTER_VERSION
         ". This page needs no other file.</p></footer>\n";
  out += "<div class=\"tip\" role=\"status\" aria-live=\"polite\" hidden></div>\n";
  out +=
      fmt::format("<script type=\"application/json\" id=\"data\">{}</script>\n", page_data(runs));
  out += fmt::format("<script>{}\n{}</script>\n</body>\n</html>\n", plot_script(), page_script());
  return out;
}

Status write_report(const std::string& path, const std::vector<PageRun>& runs,
                    const PageOptions& options) {
  return replace_file(path, [&](OutFile& file) {
    file.write(report_page(runs, options));
    return file.close();
  });
}

}  // namespace muster
