// `muster learn predict`, `evaluate` and `explain`: what a trained model says, how wrong it is, and
// why it says so.
#include <cmath>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/out_file.h"
#include "cli/commands.h"
#include "cli/learn_parts.h"
#include "learn/model_file.h"
#include "learn/model_page.h"

namespace muster {
namespace {

std::string csv_field(std::string_view text) {
  std::string field;
  append_field(field, text);
  return field;
}

std::string answer_text(const LoadedModel& model, double value) {
  if (model.kind == "tree") return model.tree.classes[static_cast<std::size_t>(value)];
  return fmt::format("{:.6g}", value);
}

// How far predictions are from the truth.
struct Errors {
  double rows = 0;
  double absolute = 0;  // mean
  double r2 = 0;        // coefficient of determination
  double accuracy = 0;  // of classes
};

// Classes are positions where `positions`, else probabilities of the second of two.
Errors errors_of(const std::vector<double>& predictions, const std::vector<double>& truths,
                 bool positions) {
  Errors errors;
  errors.rows = static_cast<double>(truths.size());
  double mean = 0;
  for (const double value : truths) mean += value / errors.rows;
  double square = 0;
  double total = 0;
  double right = 0;
  for (std::size_t i = 0; i < truths.size(); ++i) {
    const double truth = truths[i];
    const double found = predictions[i];
    errors.absolute += std::abs(found - truth) / errors.rows;
    square += (found - truth) * (found - truth);
    total += (truth - mean) * (truth - mean);
    right += (positions ? found == truth : (found > 0.5) == (truth > 0.5)) ? 1 : 0;
  }
  errors.r2 = total > 0 ? 1 - square / total : 0;
  errors.accuracy = right / errors.rows;
  return errors;
}

void print_errors(const Errors& errors, bool classes, bool json) {
  if (json && classes) {
    fmt::print("{{\"rows\": {}, \"accuracy\": {}}}\n", errors.rows, errors.accuracy);
  } else if (json) {
    fmt::print("{{\"rows\": {}, \"mean_absolute_error\": {}, \"r2\": {}}}\n", errors.rows,
               errors.absolute, errors.r2);
  } else if (classes) {
    fmt::print("rows      {}\naccuracy  {:.4f}\n", errors.rows, errors.accuracy);
  } else {
    fmt::print(
        "rows                 {}\nmean absolute error  {:.6g}\nR2                   {:.4f}\n",
        errors.rows, errors.absolute, errors.r2);
  }
}

// The row to be taken apart: given on the line, or a row of a file.
Result<std::vector<double>> row_to_explain(const LearnOptions& options,
                                           const FeatureSet& features) {
  if (!options.row.empty()) return features.encode_items(options.row);
  const auto examples = read_examples(options.data, categories_of(features));
  if (!examples) return examples.error();
  if (options.at < 1 || options.at > examples->rows) {
    return Error{fmt::format("{}: no row {}; it has {}", options.data, options.at, examples->rows)};
  }
  const auto columns = features.encode(*examples, options.data);
  if (!columns) return columns.error();
  std::vector<double> row;
  for (const auto& column : *columns) row.push_back(column[options.at - 1]);
  return row;
}

}  // namespace

int learn_predict(const LearnOptions& options) {
  const auto model = load_model(options.model);
  if (!model) return complain(model.error());
  const FeatureSet& features = model->features();
  std::vector<std::string> as_text = categories_of(features);
  if (!options.id.empty()) as_text.push_back(options.id);
  const auto examples = read_examples(options.data, as_text);
  if (!examples) return complain(examples.error());
  const auto columns = features.encode(*examples, options.data);
  if (!columns) return complain(columns.error());
  const auto predictions = predict_all(*model, *columns);
  if (!predictions) return complain(predictions.error());
  if (options.id.empty()) {
    fmt::print("{}\n", csv_field(model->target()));
    for (const double value : *predictions) {
      fmt::print("{}\n", csv_field(answer_text(*model, value)));
    }
    return kExitOk;
  }
  const auto ids = examples->need(options.id, options.data);
  if (!ids) return complain(ids.error());
  fmt::print("{},estimate\n", csv_field(options.id));
  for (std::size_t i = 0; i < predictions->size(); ++i) {
    fmt::print("{},{}\n", csv_field((*ids)->texts[i]),
               csv_field(answer_text(*model, (*predictions)[i])));
  }
  return kExitOk;
}

int learn_evaluate(const LearnOptions& options) {
  const auto model = load_model(options.model);
  if (!model) return complain(model.error());
  const FeatureSet& features = model->features();
  std::vector<std::string> as_text = categories_of(features);
  const bool classes = model->kind == "tree" || (model->kind == "ebm" && model->ebm.classify);
  if (classes) as_text.push_back(model->target());
  const auto examples = read_examples(options.data, as_text);
  if (!examples) return complain(examples.error());
  const auto columns = features.encode(*examples, options.data);
  if (!columns) return complain(columns.error());
  const std::vector<std::string> known = !classes                ? std::vector<std::string>{}
                                         : model->kind == "tree" ? model->tree.classes
                                                                 : model->ebm.classes;
  const auto target = target_of(*examples, model->target(), options.data, known);
  if (!target) return complain(target.error());
  const auto predictions = predict_all(*model, *columns);
  if (!predictions) return complain(predictions.error());
  if (target->values.empty()) {
    return complain(Error{fmt::format("{}: no rows to evaluate on", options.data)});
  }
  print_errors(errors_of(*predictions, target->values, model->kind == "tree"), classes,
               options.json);
  return kExitOk;
}

int learn_explain(const LearnOptions& options) {
  const auto model = load_model(options.model);
  if (!model) return complain(model.error());
  if (model->kind == "boosted-trees") {
    return complain(Error{"boosted trees cannot be explained; train an ebm or a tree"});
  }
  const bool one_row = !options.row.empty() || !options.data.empty();
  std::vector<double> row;
  if (one_row) {
    auto found = row_to_explain(options, model->features());
    if (!found) return complain(found.error());
    row = std::move(*found);
  }
  if (model->kind == "tree") {
    if (!one_row) {
      fmt::print("{}", model->tree.text());
      return kExitOk;
    }
    fmt::print("{}", explain_text(model->tree, row));
    return kExitOk;
  }
  if (one_row) {
    fmt::print("{}", options.json ? explain_json(model->ebm, row) : explain_text(model->ebm, row));
  } else if (!options.feature.empty()) {
    const auto shape = shape_text(model->ebm, options.feature);
    if (!shape) return complain(shape.error());
    fmt::print("{}", *shape);
  } else {
    fmt::print("{}", importance_text(model->ebm));
  }
  if (!options.page.empty()) {
    const std::string page = model_page(model->ebm, row);
    if (Status written = replace_file(options.page, page); !written) {
      return complain(written.error(), kExitFailed);
    }
    note(fmt::format("page written to {}", options.page));
  }
  return kExitOk;
}

}  // namespace muster
