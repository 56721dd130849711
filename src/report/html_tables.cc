#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "report/html_parts.h"

namespace muster {
namespace {

// Behind the name of a run whose policies know how long jobs will run.
constexpr std::string_view kTruthMark =
    " <abbr title=\"It knows how long jobs will run, which is known only in a "
    "simulation.\">knows durations</abbr>";

// A number as people read it, with the exact one beside it for programs and tests.
std::string cell(double value, Unit unit, bool best = false, std::string_view more = "") {
  const std::string exact = std::isfinite(value) ? exact_text(value) : "";
  const std::string text = std::isfinite(value) ? number_text(value, unit) : "–";
  return fmt::format(
      "<td class=\"number\" data-value=\"{}\"{}>{}</td>", exact, more,
      best
          ? fmt::format("<span class=\"best\">{}<span class=\"unseen\"> (best)</span></span>", text)
          : text);
}

std::string head(std::string_view text, bool number = true) {
  return fmt::format("<th scope=\"col\"{}>{}</th>", number ? " class=\"number\"" : "",
                     escape_html(text));
}

std::string row_head(std::string_view text, std::string_view title = "") {
  return fmt::format("<th scope=\"row\"{}>{}</th>",
                     title.empty() ? "" : fmt::format(" title=\"{}\"", escape_html(title)),
                     escape_html(text));
}

std::string table(const std::string& header, const std::string& body,
                  std::string_view classes = "") {
  return fmt::format(
      "<div class=\"scroll\"><table "
      "class=\"{}\"><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>\n",
      classes, header, body);
}

std::string run_heads(const std::vector<PageRun>& runs) {
  std::string out;
  for (const PageRun& run : runs) out += head(runs.size() == 1 ? "value" : run.info.label);
  return out;
}

// Which of the values is best, if they differ at all and the runs can be compared.
std::vector<bool> best_of(const std::vector<PageRun>& runs, const std::vector<double>& values,
                          Better better) {
  std::vector<bool> best(values.size(), false);
  if (!comparable(infos_of(runs))) return best;
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite),
               [](double v) { return std::isfinite(v); });
  if (better == Better::kNeither || finite.size() < 2) return best;
  const auto [least, greatest] = std::minmax_element(finite.begin(), finite.end());
  if (*least == *greatest) return best;
  const double winner = better == Better::kLower ? *least : *greatest;
  for (std::size_t i = 0; i < values.size(); ++i) best[i] = values[i] == winner;
  return best;
}

std::vector<double> values_of(const std::vector<PageRun>& runs, const MetricInfo& metric) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const PageRun& run : runs) values.push_back(run.summary.metrics.*metric.field);
  return values;
}

bool worth_showing(const MetricInfo& metric, const std::vector<double>& values) {
  const bool any =
      std::any_of(values.begin(), values.end(), [](double v) { return std::abs(v) > 0; });
  return metric.headline ||
         (any && (metric.key == "refused" || metric.key == "failed" || metric.key == "cancelled" ||
                  metric.key == "unfinished" || metric.key == "deadline_met_ratio"));
}

// Value of a distribution at a fraction.
double quantile(const std::vector<CurvePoint>& curve, double fraction) {
  for (const CurvePoint& point : curve) {
    if (point.fraction >= fraction) return point.value;
  }
  return kNoFigure;
}

}  // namespace

std::vector<const RunInfo*> infos_of(const std::vector<PageRun>& runs) {
  std::vector<const RunInfo*> infos;
  infos.reserve(runs.size());
  for (const PageRun& run : runs) infos.push_back(&run.info);
  return infos;
}

std::string headline_table(const std::vector<PageRun>& runs) {
  if (runs.size() == 1) {
    std::string out = "<dl class=\"cards\">";
    for (const MetricInfo& metric : metric_list()) {
      const double value = runs.front().summary.metrics.*metric.field;
      if (!worth_showing(metric, {value}) || !std::isfinite(value)) continue;
      out += fmt::format(
          "<div title=\"{}\"><dt>{}</dt><dd data-run=\"0\" data-key=\"{}\" "
          "data-value=\"{}\">{}</dd></div>",
          escape_html(metric.sentence), escape_html(metric.label), metric.key, exact_text(value),
          number_text(value, metric.unit));
    }
    return out + "</dl>\n";
  }
  std::string header = head("run", false);
  std::vector<std::string> rows(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    rows[i] =
        fmt::format("<th scope=\"row\"><span class=\"swatch\" data-run=\"{}\"></span>{}{}</th>", i,
                    escape_html(runs[i].info.label), runs[i].info.clairvoyant ? kTruthMark : "");
  }
  for (const MetricInfo& metric : metric_list()) {
    const std::vector<double> values = values_of(runs, metric);
    if (!worth_showing(metric, values)) continue;
    header += fmt::format("<th scope=\"col\" class=\"number\" title=\"{}\">{}</th>",
                          escape_html(metric.sentence), escape_html(metric.label));
    const std::vector<bool> best = best_of(runs, values, metric.better);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      rows[i] += cell(values[i], metric.unit, best[i],
                      fmt::format(" data-run=\"{}\" data-key=\"{}\"", i, metric.key));
    }
  }
  std::string body;
  for (const std::string& row : rows) body += "<tr>" + row + "</tr>";
  return table(header, body, "sortable headlines");
}

std::string figures_section(const std::vector<PageRun>& runs) {
  std::string body;
  for (const MetricInfo& metric : metric_list()) {
    const std::vector<double> values = values_of(runs, metric);
    const std::vector<bool> best = best_of(runs, values, metric.better);
    body += "<tr>" + row_head(metric.label, metric.sentence);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      body += cell(values[i], metric.unit, best[i],
                   fmt::format(" data-run=\"{}\" data-figure=\"{}\"", i, metric.key));
    }
    body += fmt::format("<td class=\"meaning\">{}</td></tr>", escape_html(metric.sentence));
  }
  // Figures of the user's own, by key; runs may differ in which they have.
  std::map<std::string, CustomFigure> custom;
  for (const PageRun& run : runs) {
    for (const CustomFigure& figure : run.summary.custom) custom.emplace(figure.key, figure);
  }
  for (const auto& [key, figure] : custom) {
    std::vector<double> values;
    for (const PageRun& run : runs) {
      const auto found =
          std::find_if(run.summary.custom.begin(), run.summary.custom.end(),
                       [&name = key](const CustomFigure& f) { return f.key == name; });
      values.push_back(found == run.summary.custom.end() ? kNoFigure : found->value);
    }
    const std::vector<bool> best = best_of(runs, values, figure.better);
    body += "<tr>" + row_head(figure.label, key);
    for (std::size_t i = 0; i < runs.size(); ++i) body += cell(values[i], figure.unit, best[i]);
    body += fmt::format("<td class=\"meaning\">a figure of this run's own, in {}</td></tr>",
                        escape_html(key));
  }
  std::string note;
  for (const PageRun& run : runs) {
    if (run.summary.quantile_error > 0) {
      note = fmt::format(
          "<p class=\"note\">With this many jobs, quantiles and curves are off by at most {} "
          "%.</p>",
          run.summary.quantile_error * 100);
    }
  }
  return table(head("figure", false) + run_heads(runs) + head("meaning", false), body, "figures") +
         note;
}

std::string curve_table(const std::vector<PageRun>& runs,
                        std::vector<CurvePoint> RunSummary::*curve) {
  constexpr std::array<double, 9> kFractions = {0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1};
  std::string body;
  for (const double fraction : kFractions) {
    body +=
        "<tr>" + row_head(fraction == 1 ? "all jobs" : fmt::format("{} % of jobs", fraction * 100));
    for (const PageRun& run : runs)
      body += cell(quantile(run.summary.*curve, fraction), Unit::kSeconds);
    body += "</tr>";
  }
  return table(head("within", false) + run_heads(runs), body);
}

std::string timeline_table(const std::vector<PageRun>& runs) {
  constexpr std::size_t kRows = 12;
  std::string header = head("from", false);
  for (const PageRun& run : runs) {
    const std::string prefix = runs.size() == 1 ? "" : run.info.label + ": ";
    header += head(prefix + "in use") + head(prefix + "in line");
  }
  std::vector<Timeline> lines;
  std::size_t rows = 0;
  for (const PageRun& run : runs) {
    lines.push_back(coarser(run.timeline, kRows));
    rows = std::max(rows, lines.back().buckets.size());
  }
  // Runs of different length have steps of different width; each row then shows the same share of
  // each.
  std::string body;
  for (std::size_t i = 0; i < rows; ++i) {
    const Timeline& first = lines.front();
    const double start =
        i < first.buckets.size() ? first.buckets[i].start - first.buckets.front().start : kNoFigure;
    body += "<tr>" + row_head(number_text(start, Unit::kSeconds));
    for (const Timeline& line : lines) {
      const bool there = i < line.buckets.size();
      const double usable = there ? line.buckets[i].usable_gpus : 0;
      body += cell(usable > 0 ? line.buckets[i].used_gpus / usable : kNoFigure, Unit::kRatio);
      body += cell(there ? std::round(line.buckets[i].waiting + line.buckets[i].held) : kNoFigure,
                   Unit::kCount);
    }
    body += "</tr>";
  }
  return table(header, body);
}

std::string wait_text(bool held, Reason reason) {
  if (held) return fmt::format("held by admission: {}", reason_sentence(reason));
  // No reason means that no job was blocked, and yet jobs waited.
  if (reason == Reason::kNone) return "the jobs before it take all free GPUs";
  return std::string(reason_sentence(reason));
}

std::string waits_table(const std::vector<PageRun>& runs) {
  std::map<std::pair<bool, Reason>, std::vector<double>> rows;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const WaitCause& cause : runs[i].summary.waits) {
      auto& row = rows[{cause.held, cause.reason}];
      row.resize(runs.size(), 0);
      row[i] = cause.job_seconds / 3600;
    }
  }
  std::string body;
  for (const auto& [cause, hours] : rows) {
    body += "<tr>" + row_head(wait_text(cause.first, cause.second));
    for (const double value : hours) body += cell(value, Unit::kFactor);
    body += "</tr>";
  }
  if (rows.empty()) return "<p>No job waited.</p>";
  return table(head("job-hours of queueing because", false) + run_heads(runs), body);
}

std::string groups_table(const std::vector<PageRun>& runs,
                         std::vector<GroupRow> RunSummary::*groups, std::string_view label,
                         std::size_t most_rows) {
  // In the order of the first run; groups that only others have come after.
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const PageRun& run : runs) {
    for (const GroupRow& row : run.summary.*groups) {
      if (seen.insert(row.name).second) names.push_back(row.name);
    }
  }
  const std::size_t shown = std::min(names.size(), most_rows);
  std::string header = head(label, false) + head("jobs") + head("GPU hours");
  for (const PageRun& run : runs) {
    const std::string prefix = runs.size() == 1 ? "" : run.info.label + ": ";
    header += head(prefix + "avg JCT");
    if (runs.size() == 1) header += head("avg queueing") + head("preemptions");
  }
  std::string body;
  for (std::size_t n = 0; n < shown; ++n) {
    body += "<tr>" + row_head(names[n].empty() ? "(none)" : names[n]);
    bool first = true;
    for (const PageRun& run : runs) {
      const auto& rows = run.summary.*groups;
      const auto found = std::find_if(rows.begin(), rows.end(),
                                      [&](const GroupRow& r) { return r.name == names[n]; });
      const GroupRow row = found == rows.end() ? GroupRow{} : *found;
      if (first) body += cell(row.jobs, Unit::kCount) + cell(row.gpu_hours, Unit::kGpuHours);
      first = false;
      body += cell(row.avg_jct_s, Unit::kSeconds);
      if (runs.size() == 1)
        body += cell(row.avg_queue_s, Unit::kSeconds) + cell(row.preemptions, Unit::kCount);
    }
    body += "</tr>";
  }
  const std::string note = shown < names.size() ? fmt::format("<p class=\"note\">and {} more</p>\n",
                                                              names.size() - shown)
                                                : "";
  return table(header, body, "sortable") + note;
}

std::string decisions_table(const std::vector<PageRun>& runs) {
  std::map<std::pair<Action, Reason>, std::vector<double>> rows;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const DecisionCount& count : runs[i].summary.decisions) {
      auto& row = rows[{count.action, count.reason}];
      row.resize(runs.size(), 0);
      row[i] = count.count;
    }
  }
  if (rows.empty()) return "<p>No decisions were recorded.</p>\n";
  std::string body;
  for (const auto& [what, counts] : rows) {
    body += "<tr>" + row_head(action_name(what.first));
    body += fmt::format("<td>{}</td>", reason_sentence(what.second));
    for (const double count : counts) body += cell(count, Unit::kCount);
    body += "</tr>";
  }
  return table(head("decision", false) + head("because", false) + run_heads(runs), body);
}

std::string settings_section(const std::vector<PageRun>& runs) {
  std::vector<std::string> names;
  for (const PageRun& run : runs) {
    for (const auto& setting : run.info.settings) {
      if (std::find(names.begin(), names.end(), setting.first) == names.end())
        names.push_back(setting.first);
    }
  }
  std::string body;
  for (const std::string& name : names) {
    std::vector<std::string> values;
    for (const PageRun& run : runs) {
      const auto found = std::find_if(run.info.settings.begin(), run.info.settings.end(),
                                      [&](const auto& setting) { return setting.first == name; });
      values.push_back(found == run.info.settings.end() ? "–" : found->second);
    }
    body += "<tr>" + row_head(name);
    const bool same = std::all_of(values.begin(), values.end(),
                                  [&](const std::string& v) { return v == values.front(); });
    if (same) {
      body += fmt::format("<td colspan=\"{}\">{}</td>", runs.size(), escape_html(values.front()));
    } else {
      for (const std::string& value : values)
        body += fmt::format("<td>{}</td>", escape_html(value));
    }
    body += "</tr>";
  }
  std::string out;
  if (!names.empty()) {
    std::string header = head("setting", false);
    for (const PageRun& run : runs)
      header += head(runs.size() == 1 ? "value" : run.info.label, false);
    out += table(header, body, "settings");
  }
  std::set<std::string> commands;
  for (const PageRun& run : runs) {
    if (!run.info.rerun.empty() && commands.insert(run.info.rerun).second) {
      out += fmt::format("<p class=\"rerun\">{}<code>{}</code></p>\n",
                         commands.size() == 1 ? "Run it again: " : "", escape_html(run.info.rerun));
    }
  }
  return out;
}

std::vector<GroupRow> size_steps(const std::vector<GroupRow>& sizes) {
  std::map<long long, GroupRow> steps;  // by the largest GPU count inside
  std::map<long long, std::pair<Sum, Sum>> sums;
  for (const GroupRow& size : sizes) {
    const long long gpus = parse_integer(size.name).value_or(0);
    long long top = 1;
    while (top < gpus) top *= 2;
    GroupRow& step = steps[top];
    step.name = top <= 2 ? std::to_string(top) : fmt::format("{}–{}", top / 2 + 1, top);
    step.jobs += size.jobs;
    step.finished += size.finished;
    step.refused += size.refused;
    step.failed += size.failed;
    step.cancelled += size.cancelled;
    step.preemptions += size.preemptions;
    step.gpu_hours += size.gpu_hours;
    if (size.finished > 0) {
      sums[top].first.add(size.avg_jct_s * size.finished);
      sums[top].second.add(size.avg_queue_s * size.finished);
    }
  }
  std::vector<GroupRow> result;
  for (auto& [top, step] : steps) {
    if (step.finished > 0) {
      step.avg_jct_s = sums[top].first.value() / step.finished;
      step.avg_queue_s = sums[top].second.value() / step.finished;
    }
    result.push_back(step);
  }
  return result;
}

}  // namespace muster
