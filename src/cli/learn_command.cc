// `muster learn`: models that a person can read, trained on a table of examples.
#include <algorithm>
#include <cmath>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/csv.h"
#include "base/out_file.h"
#include "base/text.h"
#include "cli/commands.h"
#include "learn/boosted.h"
#include "learn/model_file.h"
#include "learn/model_page.h"
#include "workload/byte_input.h"

namespace muster {
namespace {

struct LearnOptions {
  std::string data;
  std::string model;
  std::string output;
  std::string kind = "ebm";
  std::string target;
  std::vector<std::string> features;
  std::vector<std::string> drop;
  std::vector<std::string> as_text;
  std::vector<std::string> monotone;
  std::vector<std::string> row;
  std::size_t at = 0;
  std::string page;
  std::string feature;
  std::string id;
  bool json = false;
  EbmOptions ebm;
  double prune = 1e-4;
};

struct Trained {
  std::string kind;
  Ebm ebm;
  DecisionTree tree;
  std::unique_ptr<BoostedTrees> boosted;

  const FeatureSet& features() const {
    return kind == "ebm" ? ebm.features : kind == "tree" ? tree.features : boosted->features();
  }
  const std::string& target() const {
    return kind == "ebm" ? ebm.target : kind == "tree" ? tree.target : boosted->target();
  }
};

Result<Trained> load_model(const std::string& path) {
  const auto text = read_whole(path, std::size_t{1} << 30);
  if (!text) return text.error();
  auto kind = model_kind(*text, path);
  if (!kind) return kind.error();
  Trained trained;
  trained.kind = *kind;
  if (*kind == "ebm") {
    auto model = ebm_of(*text, path);
    if (!model) return model.error();
    trained.ebm = std::move(*model);
  } else if (*kind == "tree") {
    auto model = tree_of(*text, path);
    if (!model) return model.error();
    trained.tree = std::move(*model);
  } else {
    auto model = boosted_trees_of(*text, path);
    if (!model) return model.error();
    trained.boosted = std::move(*model);
  }
  return trained;
}

// Predictions as numbers: values, probabilities of the second class, or positions of classes.
Result<std::vector<double>> predict_all(const Trained& model,
                                        const std::vector<std::vector<double>>& columns) {
  if (model.kind == "boosted-trees") return model.boosted->predict(columns);
  const std::size_t rows = columns.empty() ? 0 : columns.front().size();
  std::vector<double> predictions;
  std::vector<double> row(columns.size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t f = 0; f < row.size(); ++f) row[f] = columns[f][i];
    predictions.push_back(model.kind == "ebm" ? model.ebm.predict(row) : model.tree.predict(row));
  }
  return predictions;
}

struct Target {
  std::vector<double> values;
  std::vector<std::string> classes;  // of text, sorted; values are then positions
};

Result<Target> target_of(const Examples& examples, const std::string& name,
                         const std::string& where, std::vector<std::string> classes) {
  const auto column = examples.need(name, where);
  if (!column) return column.error();
  Target target;
  if (!(*column)->is_text && classes.empty()) {
    target.values = (*column)->numbers;
    return target;
  }
  std::vector<std::string> texts = (*column)->texts;
  for (const double value : (*column)->numbers) texts.push_back(exact_text(value));
  if (classes.empty()) {
    classes = texts;
    std::sort(classes.begin(), classes.end());
    classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  }
  target.classes = std::move(classes);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto found = std::lower_bound(target.classes.begin(), target.classes.end(), texts[i]);
    if (found == target.classes.end() || *found != texts[i]) {
      return Error{fmt::format("{}: row {}: class '{}' of '{}' is not one the model knows", where,
                               i + 1, texts[i], name)};
    }
    target.values.push_back(static_cast<double>(found - target.classes.begin()));
  }
  return target;
}

int train(const LearnOptions& options) {
  std::vector<std::string> as_text = options.as_text;
  if (options.kind == "tree") as_text.push_back(options.target);
  const auto examples = read_examples(options.data, as_text);
  if (!examples) return complain(examples.error());
  auto target = target_of(*examples, options.target, options.data, {});
  if (!target) return complain(target.error());
  std::vector<std::string> names = options.features;
  if (names.empty()) {
    for (const ExampleColumn& column : examples->columns) {
      const auto& drop = options.drop;
      if (column.name == options.target) continue;
      if (std::find(drop.begin(), drop.end(), column.name) == drop.end())
        names.push_back(column.name);
    }
  }
  const auto features = FeatureSet::of(*examples, names, options.data);
  if (!features) return complain(features.error());
  const auto columns = features->encode(*examples, options.data);
  if (!columns) return complain(columns.error());
  std::string text;
  if (options.kind == "ebm") {
    EbmOptions settings = options.ebm;
    settings.classify = !target->classes.empty();
    if (settings.classify && target->classes.size() != 2) {
      return complain(
          Error{fmt::format("{}: target '{}' has {} classes; an ebm tells two apart, a "
                            "tree (--kind tree) any number",
                            options.data, options.target, target->classes.size())});
    }
    auto model = train_ebm(*features, *columns, target->values, settings);
    if (!model) {
      return complain(Error{fmt::format("{}: {}", options.data, model.error().message)});
    }
    model->target = options.target;
    model->classes = target->classes;
    for (const std::string& wish : options.monotone) {
      const std::size_t colon = wish.find(':');
      const std::string way = colon == std::string::npos ? "auto" : wish.substr(colon + 1);
      if (way != "auto" && way != "up" && way != "down") {
        return complain(
            Error{fmt::format("--monotone {}: expected FEATURE, FEATURE:up or "
                              "FEATURE:down",
                              wish)});
      }
      const Direction direction = way == "up"     ? Direction::kIncreasing
                                  : way == "down" ? Direction::kDecreasing
                                                  : Direction::kAutomatic;
      if (Status made = make_monotone(*model, wish.substr(0, colon), direction); !made) {
        return complain(made.error());
      }
    }
    text = to_text(*model);
    fmt::print("{} terms on {} rows; most important: {}\n", model->terms.size(), model->rows,
               model->terms[static_cast<std::size_t>(model->ranking().front())].name(*features));
  } else if (options.kind == "tree") {
    TreeOptions settings;
    settings.prune = options.prune;
    const std::vector<int> classes(target->values.begin(), target->values.end());
    auto model = train_tree(*features, *columns, classes, target->classes, settings);
    if (!model) return complain(model.error());
    model->target = options.target;
    text = to_text(*model);
    fmt::print("{} leaves, depth {}\n", model->leaves(), model->depth());
  } else {
    if (!target->classes.empty()) {
      return complain(Error{"boosted-trees predict numbers; use --kind ebm or tree for classes"});
    }
    auto model = train_boosted_trees(*features, *columns, target->values, options.target, {});
    if (!model) return complain(model.error());
    const auto written = (*model)->text();
    if (!written) return complain(written.error());
    text = *written;
    fmt::print("trained on {} rows\n", target->values.size());
  }
  if (Status written = replace_file(options.output, text); !written) {
    return complain(written.error(), kExitFailed);
  }
  fmt::print("written to {}\n", options.output);
  return kExitOk;
}

std::string csv_field(std::string_view text) {
  std::string field;
  append_field(field, text);
  return field;
}

std::string answer_text(const Trained& model, double value) {
  if (model.kind == "tree") return model.tree.classes[static_cast<std::size_t>(value)];
  return fmt::format("{:.6g}", value);
}

int predict(const LearnOptions& options) {
  const auto model = load_model(options.model);
  if (!model) return complain(model.error());
  std::vector<std::string> as_text;
  const FeatureSet& features = model->features();
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (features[i].categorical) as_text.push_back(features[i].name);
  }
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

int evaluate(const LearnOptions& options) {
  const auto model = load_model(options.model);
  if (!model) return complain(model.error());
  const FeatureSet& features = model->features();
  std::vector<std::string> as_text;
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (features[i].categorical) as_text.push_back(features[i].name);
  }
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
  const auto rows = static_cast<double>(target->values.size());
  if (rows == 0) return complain(Error{fmt::format("{}: no rows to evaluate on", options.data)});
  double absolute = 0;
  double square = 0;
  double right = 0;
  double mean = 0;
  for (const double value : target->values) mean += value / rows;
  double total = 0;
  for (std::size_t i = 0; i < target->values.size(); ++i) {
    const double truth = target->values[i];
    const double found = (*predictions)[i];
    absolute += std::abs(found - truth) / rows;
    square += (found - truth) * (found - truth);
    total += (truth - mean) * (truth - mean);
    right += (model->kind == "tree" ? found == truth : (found > 0.5) == (truth > 0.5)) ? 1 : 0;
  }
  const double r2 = total > 0 ? 1 - square / total : 0;
  if (options.json) {
    if (classes) {
      fmt::print("{{\"rows\": {}, \"accuracy\": {}}}\n", rows, right / rows);
    } else {
      fmt::print("{{\"rows\": {}, \"mean_absolute_error\": {}, \"r2\": {}}}\n", rows, absolute, r2);
    }
  } else if (classes) {
    fmt::print("rows      {}\naccuracy  {:.4f}\n", rows, right / rows);
  } else {
    fmt::print(
        "rows                 {}\nmean absolute error  {:.6g}\nR2                   {:.4f}\n", rows,
        absolute, r2);
  }
  return kExitOk;
}

// The row to be taken apart: given on the line, or a row of a file.
Result<std::vector<double>> row_to_explain(const LearnOptions& options,
                                           const FeatureSet& features) {
  if (!options.row.empty()) return features.encode_items(options.row);
  std::vector<std::string> as_text;
  for (std::size_t i = 0; i < features.size(); ++i) {
    if (features[i].categorical) as_text.push_back(features[i].name);
  }
  const auto examples = read_examples(options.data, as_text);
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

int explain(const LearnOptions& options) {
  const auto model = load_model(options.model);
  if (!model) return complain(model.error());
  if (model->kind == "boosted-trees") {
    return complain(Error{"boosted trees cannot be taken apart; train an ebm or a tree"});
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

}  // namespace

void add_learn_command(CLI::App& app, Chosen& chosen) {
  CLI::App* learn = app.add_subcommand(
      "learn", "Train, use and read models: how long jobs run, how many come, who disturbs whom");
  learn->require_subcommand(1);
  const auto options = std::make_shared<LearnOptions>();

  CLI::App* training = learn->add_subcommand("train", "Learn a column of a table from the others");
  training->add_option("DATA", options->data, "CSV file with a header, packed or plain")
      ->required();
  training->add_option("--target", options->target, "The column to predict")->required();
  training->add_option("-o,--output", options->output, "Where the model goes")->required();
  training->add_option("--kind", options->kind, "The model")
      ->check(CLI::IsMember({"ebm", "tree", "boosted-trees"}))
      ->capture_default_str();
  training
      ->add_option("--features", options->features, "Columns to learn from; default: all others")
      ->delimiter(',');
  training->add_option("--drop", options->drop, "Columns to leave out")->delimiter(',');
  training->add_option("--text", options->as_text, "Columns of categories that look like numbers")
      ->delimiter(',');
  training->add_option("--monotone", options->monotone,
                       "ebm: FEATURE, FEATURE:up or FEATURE:down: make its effect monotone");
  training->add_option("--pairs", options->ebm.pairs, "ebm: interactions to find")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  training->add_option("--bags", options->ebm.bags, "ebm: models to average")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  training->add_option("--learning-rate", options->ebm.learning_rate, "ebm: size of a step")
      ->check(CLI::Range(1e-4, 1.0))
      ->capture_default_str();
  training->add_option("--bins", options->ebm.max_bins, "ebm: bins of a feature at most")
      ->check(CLI::Range(2, 60000))
      ->capture_default_str();
  training->add_option("--rounds", options->ebm.max_rounds, "ebm: rounds at most")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  training->add_option("--seed", options->ebm.seed, "Of the random numbers")->capture_default_str();
  training->add_option("--prune", options->prune, "tree: gain a cut must bring per leaf")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  training->footer(
      "Examples:\n"
      "  muster learn train jobs.csv --target duration --drop job_id -o duration.json\n"
      "  muster learn train jobs.csv --target duration -o m.json --monotone gpu_num:up");
  training->callback([options, &chosen] { chosen.run = [options] { return train(*options); }; });

  CLI::App* predicting = learn->add_subcommand("predict", "Answers of a model for a table");
  predicting->add_option("MODEL", options->model, "A model file")->required();
  predicting->add_option("DATA", options->data, "CSV file with the model's features")->required();
  predicting->add_option("--id", options->id,
                         "Write this column beside each answer, as --estimates wants it");
  predicting->footer(
      "Examples:\n"
      "  muster learn predict duration.json new_jobs.csv\n"
      "  muster learn predict duration.json new_jobs.csv --id job_id > estimates.csv");
  predicting->callback(
      [options, &chosen] { chosen.run = [options] { return predict(*options); }; });

  CLI::App* explaining = learn->add_subcommand(
      "explain", "What a model looks at, the effect of a feature, or why one answer is what it is");
  explaining->add_option("MODEL", options->model, "A model file")->required();
  explaining->add_option("VALUES", options->row, "FEATURE=VALUE ...: the answer to take apart");
  explaining->add_option("--data", options->data, "Take the row from this CSV file");
  explaining->add_option("--row", options->at, "Its number, from 1")->default_val(1);
  explaining->add_option("--feature", options->feature, "Show the effect of this feature");
  explaining->add_option("--page", options->page, "Write all of it as one HTML page");
  explaining->add_flag("--json", options->json, "For scripts");
  explaining->footer(
      "Examples:\n"
      "  muster learn explain duration.json\n"
      "  muster learn explain duration.json user=ann gpu_num=8 hour=14 --page why.html\n"
      "  muster learn explain duration.json --feature hour");
  explaining->callback(
      [options, &chosen] { chosen.run = [options] { return explain(*options); }; });

  CLI::App* evaluating = learn->add_subcommand("evaluate", "How wrong a model is on a table");
  evaluating->add_option("MODEL", options->model, "A model file")->required();
  evaluating->add_option("DATA", options->data, "CSV file with features and target")->required();
  evaluating->add_flag("--json", options->json, "For scripts");
  evaluating->footer("Examples:\n  muster learn evaluate duration.json september.csv");
  evaluating->callback(
      [options, &chosen] { chosen.run = [options] { return evaluate(*options); }; });

  add_learn_trace_commands(*learn, chosen);
}

}  // namespace muster
