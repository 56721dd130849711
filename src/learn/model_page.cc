#include "learn/model_page.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/html_text.h"

namespace muster {
namespace {

// What a term saw: "user = ann", or both features of a pair.
std::string seen(const Ebm& model, const EbmTerm& term, std::span<const double> row) {
  std::string text;
  for (const int position : term.features) {
    const Feature& feature = model.features[static_cast<std::size_t>(position)];
    if (!text.empty()) text += ", ";
    text += feature.name + " = " + feature.text_of(row[static_cast<std::size_t>(position)]);
  }
  return text;
}

// The label of a bin of a feature alone. Bin 0 is that of missing values, so bin i of a feature
// of numbers goes from cut i - 2 to cut i - 1.
std::string bin_label(const Feature& feature, const Bins& bins, int bin) {
  if (bin == 0) return "missing";
  if (bins.categorical) return feature.categories[static_cast<std::size_t>(bin) - 1];
  if (bins.cuts.empty()) return "all";
  const auto k = static_cast<std::size_t>(bin) - 1;
  if (k == 0) return fmt::format("below {:.4g}", bins.cuts[0]);
  if (k == bins.cuts.size()) return fmt::format("from {:.4g}", bins.cuts.back());
  return fmt::format("{:.4g} to {:.4g}", bins.cuts[k - 1], bins.cuts[k]);
}

// With its sign, also if it is positive: each effect adds to an average or takes from it. The sign
// is written apart, because the unit goes by the size.
std::string signed_quantity(const Ebm& model, double value) {
  const std::string text = model.classify ? fmt::format("{:.3f}", std::abs(value))
                                          : quantity_text(model.target, std::abs(value));
  return (value < 0 ? "-" : "+") + text;
}

// A linear map from data to pixels; a range without extent is drawn in the middle.
struct Scale {
  double low;
  double high;
  double from;
  double to;
  double operator()(double value) const {
    return high > low ? from + (value - low) / (high - low) * (to - from) : (from + to) / 2;
  }
};

// Horizontal bars, one per term. Signed bars begin at a common zero and grow to both sides. The
// longest one fills the width, and no bar is too thin to be seen.
std::string bars_svg(const std::vector<std::pair<std::string, double>>& bars, const Ebm& model,
                     bool signed_bars) {
  double largest = 1e-12;
  for (const auto& [name, value] : bars) largest = std::max(largest, std::abs(value));
  const double height = 22.0 * static_cast<double>(bars.size()) + 10;
  std::string svg = fmt::format("<svg viewBox='0 0 760 {:.0f}' role='img' class='bars'>", height);
  const double zero = signed_bars ? 490 : 260;
  const double span = signed_bars ? 190 : 400;
  double y = 5;
  for (const auto& [name, value] : bars) {
    const double width = std::abs(value) / largest * span;
    svg += fmt::format(
        "<text x='250' y='{:.1f}' text-anchor='end'>{}</text><rect x='{:.1f}' y='{:.1f}' "
        "width='{:.1f}' height='16' class='{}'/><text x='{:.1f}' y='{:.1f}'>{}</text>",
        y + 13, escape_html(name), value < 0 ? zero - width : zero, y, std::max(width, 0.5),
        value < 0 ? "less" : "more", zero + (value < 0 ? 0 : width) + 6, y + 13,
        signed_bars
            ? signed_quantity(model, value)
            : (model.classify ? fmt::format("{:.3f}", value) : quantity_text(model.target, value)));
    y += 22;
  }
  return svg + "</svg>";
}

// The ends of both axes, in words.
std::string axis_labels(const std::string& low, const std::string& high, const std::string& begin,
                        const std::string& end) {
  return fmt::format(
      "<text x='64' y='18' text-anchor='end'>{}</text><text x='64' y='190' "
      "text-anchor='end'>{}</text><text x='70' y='246'>{}</text><text x='750' y='246' "
      "text-anchor='end'>{}</text>",
      high, low, escape_html(begin), escape_html(end));
}

// The effect of one feature: a step function over its bins, with the standard deviation over the
// bags as a band, and below it the training rows of each bin. In an additive model this is the
// whole effect, not a partial dependence averaged over the other features.
//
// The upper edge of the band runs from left to right and the lower one back, so that both make one
// polygon. Bins without rows do not stretch the axis: no row tells how large their effect is.
std::string shape_svg(const Ebm& model, const EbmTerm& term) {
  const Feature& feature = model.features[static_cast<std::size_t>(term.features[0])];
  const Bins& bins = term.bins[0];
  const std::size_t count = term.scores.size();
  if (count < 2) return "";
  double low = 0;
  double high = 0;
  double most = 1;
  for (std::size_t i = 0; i < count; ++i) {
    if (term.weights[i] == 0) continue;
    low = std::min(low, term.scores[i] - term.deviations[i]);
    high = std::max(high, term.scores[i] + term.deviations[i]);
    most = std::max(most, term.weights[i]);
  }
  const Scale y{low, high, 190, 10};
  std::string svg = "<svg viewBox='0 0 760 250' role='img' class='shape'>";
  svg += fmt::format("<line x1='70' x2='750' y1='{0:.1f}' y2='{0:.1f}' class='zero'/>", y(0));
  std::string band;
  std::string back;
  std::string line;
  const std::size_t first = term.weights[0] > 0 ? 0 : 1;
  // Numbers are drawn to scale between the outer cuts, categories side by side.
  const double left = bins.categorical || bins.cuts.empty() ? 0 : bins.cuts.front();
  const double right = bins.categorical || bins.cuts.empty() ? 0 : bins.cuts.back();
  const double margin = (right - left) * 0.05;
  const bool to_scale = right > left;
  const Scale x{to_scale ? left - margin : static_cast<double>(first),
                to_scale ? right + margin : static_cast<double>(count), 70, 750};
  for (std::size_t i = first; i < count; ++i) {
    double from = static_cast<double>(i);
    double to = from + 1;
    if (to_scale) {
      if (i == 0) continue;
      from = i == 1 ? left - margin : bins.cuts[i - 2];
      to = i == count - 1 ? right + margin : bins.cuts[i - 1];
    }
    const double a = x(from);
    const double b = x(to);
    line += fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ", a, y(term.scores[i]), b, y(term.scores[i]));
    const double up = y(term.scores[i] + term.deviations[i]);
    const double down = y(term.scores[i] - term.deviations[i]);
    band += fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ", a, up, b, up);
    back.insert(0, fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ", b, down, a, down));
    const double tall = 30 * term.weights[i] / most;
    svg += fmt::format(
        "<rect x='{:.1f}' y='{:.1f}' width='{:.2f}' height='{:.1f}' class='rows'><title>{}: {} "
        "rows, {}</title></rect>",
        a, 230 - tall, std::max(0.5, b - a - 0.3), tall,
        escape_html(bin_label(feature, bins, static_cast<int>(i))), term.weights[i],
        signed_quantity(model, term.scores[i]));
  }
  svg += fmt::format("<polygon points='{}{}' class='band'/><polyline points='{}' class='line'/>",
                     band, back, line);
  const std::string begin =
      to_scale ? fmt::format("{:.4g}", left) : bin_label(feature, bins, static_cast<int>(first));
  const std::string end = to_scale ? fmt::format("{:.4g}", right)
                                   : bin_label(feature, bins, static_cast<int>(count) - 1);
  svg += axis_labels(signed_quantity(model, low), signed_quantity(model, high), begin, end);
  return svg + "</svg>";
}

constexpr std::string_view kStyle = R"(
body{font:15px/1.5 system-ui,sans-serif;color:#1c2430;background:#fff;max-width:820px;margin:2em auto;padding:0 1em}
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}
@media (prefers-color-scheme:dark){body{background:#14181f;color:#e3e8ef}}
)";

}  // namespace

// Durations are printed as time, in the largest unit of which there is at least one.
std::string quantity_text(const std::string& target, double value) {
  if (target != "duration" && !target.ends_with("_s") && !target.ends_with("seconds")) {
    return fmt::format("{:.4g}", value);
  }
  const double size = std::abs(value);
  if (size >= 86400) return fmt::format("{:.1f} d", value / 86400);
  if (size >= 3600) return fmt::format("{:.1f} h", value / 3600);
  if (size >= 60) return fmt::format("{:.1f} min", value / 60);
  return fmt::format("{:.0f} s", value);
}

// The importance of a term is the mean size of what it adds over the training rows, as in
// InterpretML (Nori and others, 2019): unlike a count of splits it has the unit of the target.
std::string importance_text(const Ebm& model) {
  std::string out = fmt::format("{} = {} + what each term adds; mean size of what it adds:\n",
                                model.target.empty() ? "answer" : model.target,
                                model.classify ? fmt::format("{:.3f}", model.intercept)
                                               : quantity_text(model.target, model.intercept));
  double largest = 1e-12;
  for (const EbmTerm& term : model.terms) largest = std::max(largest, term.importance);
  for (const int i : model.ranking()) {
    const EbmTerm& term = model.terms[static_cast<std::size_t>(i)];
    out += fmt::format("  {:<36} {:>12}  {:#<{}}\n", term.name(model.features),
                       model.classify ? fmt::format("{:.3f}", term.importance)
                                      : quantity_text(model.target, term.importance),
                       "", static_cast<int>(std::lround(30 * term.importance / largest)));
  }
  return out;
}

// Bins that no training row fell into are left out: nothing was learnt there.
Result<std::string> shape_text(const Ebm& model, const std::string& feature) {
  for (const EbmTerm& term : model.terms) {
    if (term.features.size() != 1 || term.name(model.features) != feature) continue;
    std::string out =
        fmt::format("{:<28} {:>12} {:>12} {:>8}\n", feature, "adds", "give or take", "rows");
    for (std::size_t bin = 0; bin < term.scores.size(); ++bin) {
      if (term.weights[bin] == 0) continue;
      out += fmt::format("{:<28} {:>12} {:>12} {:>8}\n",
                         bin_label(model.features[static_cast<std::size_t>(term.features[0])],
                                   term.bins[0], static_cast<int>(bin)),
                         signed_quantity(model, term.scores[bin]),
                         model.classify ? fmt::format("{:.3f}", term.deviations[bin])
                                        : quantity_text(model.target, term.deviations[bin]),
                         term.weights[bin]);
    }
    return out;
  }
  return Error{
      fmt::format("the model has no effect of a feature '{}' alone; `muster learn explain "
                  "MODEL` lists its terms",
                  feature)};
}

// The parts and the average add up to the answer exactly, in log-odds for a class. Parts of zero
// say nothing and are left out.
std::string explain_text(const Ebm& model, std::span<const double> row) {
  const Explanation explanation = model.explain(row);
  std::string out;
  if (model.classify) {
    const std::string name = model.classes.size() == 2 ? model.classes[1] : "the second class";
    out = fmt::format("{} is {} with probability {:.3f}, because (in log-odds):\n", model.target,
                      name, explanation.prediction);
  } else {
    out = fmt::format("{} is estimated at {} because:\n", model.target,
                      quantity_text(model.target, explanation.prediction));
  }
  out += fmt::format("  {:>12}  to begin with, the average of {} rows\n",
                     model.classify ? fmt::format("{:.3f}", model.intercept)
                                    : quantity_text(model.target, model.intercept),
                     model.rows);
  for (const Explanation::Part& part : explanation.parts) {
    if (part.score == 0) continue;
    out += fmt::format("  {:>12}  {}\n", signed_quantity(model, part.score),
                       seen(model, model.terms[static_cast<std::size_t>(part.term)], row));
  }
  return out;
}

// The path from the root to the leaf is the whole reason of a tree's answer.
std::string explain_text(const DecisionTree& model, std::span<const double> row) {
  std::string out;
  const std::vector<int> path = model.path(row);
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    const DecisionTree::Node& node = model.nodes[static_cast<std::size_t>(path[i])];
    const Feature& feature = model.features[static_cast<std::size_t>(node.feature)];
    out += fmt::format("  {} = {} is {} {:.6g}\n", feature.name,
                       feature.text_of(row[static_cast<std::size_t>(node.feature)]),
                       path[i + 1] == node.left ? "at most" : "above", node.cut);
  }
  const DecisionTree::Node& leaf = model.nodes[static_cast<std::size_t>(path.back())];
  const auto best = static_cast<std::size_t>(leaf.best());
  return fmt::format("{} is {} ({} of {} rows like it) because:\n{}", model.target,
                     model.classes[best], leaf.counts[best], leaf.rows(), out);
}

// All parts, also those of zero, for programs. Texts from traces may not be UTF-8; invalid bytes
// are replaced.
std::string explain_json(const Ebm& model, std::span<const double> row) {
  const Explanation explanation = model.explain(row);
  nlohmann::json parts = nlohmann::json::array();
  for (const Explanation::Part& part : explanation.parts) {
    const EbmTerm& term = model.terms[static_cast<std::size_t>(part.term)];
    parts.push_back({{"term", term.name(model.features)},
                     {"seen", seen(model, term, row)},
                     {"score", part.score},
                     {"deviation", part.deviation}});
  }
  const nlohmann::json json = {{"target", model.target},
                               {"prediction", explanation.prediction},
                               {"intercept", explanation.intercept},
                               {"parts", parts}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

// Colours for light and dark screens. All classes lie below `.model`, so that the sections can
// stand in a page with a style of its own.
std::string_view model_style() {
  return R"(
.model svg{width:100%;height:auto;max-width:820px;font:12px system-ui,sans-serif}.model text{fill:#3c4654}
.model .more{fill:#c2562d}.model .less{fill:#2d6fc2}.model .line{fill:none;stroke:#2d4f8a;stroke-width:1.6}
.model .band{fill:#2d6fc2;opacity:.18}.model .zero{stroke:#8a94a3;stroke-dasharray:3 3}.model .rows{fill:#c9d1db}
.model p.note{color:#5a6573}
@media (prefers-color-scheme:dark){.model text{fill:#b8c1cd}.model .rows{fill:#39424f}.model .line{stroke:#7fb0ff}.model p.note{color:#9aa5b3}}
)";
}

std::string model_sections(const Ebm& model, std::span<const double> row) {
  const std::string target = escape_html(model.target.empty() ? "answer" : model.target);
  std::string page = fmt::format(
      "<div class='model'><p>{} is a sum of {} effects, learnt from {} rows. The average is {}; "
      "each effect below adds to it or takes from it.</p>",
      target, model.terms.size(), model.rows,
      model.classify ? fmt::format("{:.3f} in log-odds", model.intercept)
                     : quantity_text(model.target, model.intercept));
  if (!row.empty()) {
    const Explanation explanation = model.explain(row);
    std::vector<std::pair<std::string, double>> bars;
    for (const Explanation::Part& part : explanation.parts) {
      // The parts come by size, so the first bars explain most of the answer.
      if (part.score == 0 || bars.size() == 15) continue;
      bars.emplace_back(seen(model, model.terms[static_cast<std::size_t>(part.term)], row),
                        part.score);
    }
    page += fmt::format(
        "<h3>One answer taken apart</h3><p>{} is estimated at <b>{}</b>: the average, "
        "and</p>{}",
        target,
        model.classify ? fmt::format("{:.3f}", explanation.prediction)
                       : quantity_text(model.target, explanation.prediction),
        bars_svg(bars, model, true));
  }
  std::vector<std::pair<std::string, double>> bars;
  for (const int i : model.ranking()) {
    const EbmTerm& term = model.terms[static_cast<std::size_t>(i)];
    if (bars.size() < 12) bars.emplace_back(term.name(model.features), term.importance);
  }
  page += "<h3>Importance</h3><p class='note'>Mean size of what a term adds, over all rows.</p>" +
          bars_svg(bars, model, false);
  page +=
      "<h3>Effects</h3><p class='note'>The line is what a value adds; the band is how far models "
      "trained on different parts of the rows disagree; the grey bars are the rows behind it.</p>";
  for (const int i : model.ranking()) {
    const EbmTerm& term = model.terms[static_cast<std::size_t>(i)];
    if (term.features.size() != 1) continue;
    page += fmt::format("<h4>{}</h4>{}", escape_html(term.name(model.features)),
                        shape_svg(model, term));
  }
  return page + "</div>";
}

std::string model_page(const Ebm& model, std::span<const double> row) {
  return fmt::format(
      "<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' "
      "content='width=device-width'><title>What {0} depends on</title><style>{1}{2}</style></head>"
      "<body><h1>What {0} depends on</h1>{3}</body></html>\n",
      escape_html(model.target.empty() ? "answer" : model.target), kStyle, model_style(),
      model_sections(model, row));
}

}  // namespace muster
