// Models for people: importance, effects and single answers as text for a terminal, and all of it
// as one HTML page that opens from disk.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "learn/ebm.h"
#include "learn/tree.h"

namespace muster {

// Seconds as people say them when the target is a duration ("3.1 h"), else a plain number.
std::string quantity_text(const std::string& target, double value);

std::string importance_text(const Ebm& model);
Result<std::string> shape_text(const Ebm& model, const std::string& feature);
std::string explain_text(const Ebm& model, std::span<const double> row);
std::string explain_text(const DecisionTree& model, std::span<const double> row);
std::string explain_json(const Ebm& model, std::span<const double> row);

// Importance, each effect with its error band and the number of rows behind it, and, if `row` is
// not empty, that answer taken apart: HTML to stand in a page, with inline SVG, and its style
// sheet.
std::string model_sections(const Ebm& model, std::span<const double> row);
std::string_view model_style();
// The same as a page of its own.
std::string model_page(const Ebm& model, std::span<const double> row);

}  // namespace muster
