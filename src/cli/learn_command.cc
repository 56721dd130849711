// `muster learn`: models that a person can read, trained on a table of examples.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/learn_parts.h"

namespace muster {
namespace {

void add_train(CLI::App& learn, Chosen& chosen, const std::shared_ptr<LearnOptions>& options) {
  CLI::App* training = learn.add_subcommand(
      "train", "Train a model that predicts one column of a table from the others");
  training->add_option("DATA", options->data, "CSV file with a header, plain or compressed")
      ->required();
  training->add_option("--target", options->target, "the column to predict")->required();
  training->add_option("-o,--output", options->output, "file for the model")->required();
  training->add_option("--kind", options->kind, "the model")
      ->check(CLI::IsMember({"ebm", "tree", "boosted-trees"}))
      ->capture_default_str();
  training
      ->add_option("--features", options->features,
                   "columns to use as features; default: all others")
      ->delimiter(',');
  training->add_option("--drop", options->drop, "columns to leave out")->delimiter(',');
  training
      ->add_option("--text", options->as_text,
                   "columns to treat as categories although they look like numbers")
      ->delimiter(',');
  training->add_option("--monotone", options->monotone,
                       "ebm: FEATURE, FEATURE:up or FEATURE:down makes its effect monotone");
  training->add_option("--pairs", options->ebm.pairs, "ebm: number of pairwise interactions")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  training->add_option("--bags", options->ebm.bags, "ebm: number of models to average")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  training->add_option("--learning-rate", options->ebm.learning_rate, "ebm: learning rate")
      ->check(CLI::Range(1e-4, 1.0))
      ->capture_default_str();
  training->add_option("--bins", options->ebm.max_bins, "ebm: largest number of bins of a feature")
      ->check(CLI::Range(2, 60000))
      ->capture_default_str();
  training->add_option("--rounds", options->ebm.max_rounds, "ebm: largest number of rounds")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  training->add_option("--seed", options->ebm.seed, "seed of the random numbers")
      ->capture_default_str();
  training->add_option("--prune", options->prune, "tree: gain per leaf that a split must bring")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  training->footer(
      "Examples:\n"
      "  muster learn train table.csv --target duration --drop job_id -o duration.json\n"
      "  muster learn train table.csv --target duration -o m.json --monotone gpu_num:up");
  training->callback(
      [options, &chosen] { chosen.run = [options] { return learn_train(*options); }; });
}

void add_predict(CLI::App& learn, Chosen& chosen, const std::shared_ptr<LearnOptions>& options) {
  CLI::App* predicting =
      learn.add_subcommand("predict", "Print a model's predictions for the rows of a table");
  predicting->add_option("MODEL", options->model, "a model file")->required();
  predicting->add_option("DATA", options->data, "CSV file with the model's features")->required();
  predicting->add_option("--id", options->id,
                         "write this column next to each prediction, as --estimates expects it");
  predicting->footer(
      "Examples:\n"
      "  muster learn predict duration.json new_jobs.csv\n"
      "  muster learn predict duration.json new_jobs.csv --id job_id > estimates.csv");
  predicting->callback(
      [options, &chosen] { chosen.run = [options] { return learn_predict(*options); }; });
}

void add_explain(CLI::App& learn, Chosen& chosen, const std::shared_ptr<LearnOptions>& options) {
  CLI::App* explaining = learn.add_subcommand(
      "explain", "Show the importance of features, the effect of one, or how a prediction adds up");
  explaining->add_option("MODEL", options->model, "a model file")->required();
  explaining->add_option("VALUES", options->row,
                         "FEATURE=VALUE ...: explain the prediction for these");
  explaining->add_option("--data", options->data, "take the row from this CSV file");
  explaining->add_option("--row", options->at, "number of that row, from 1")->default_val(1);
  explaining->add_option("--feature", options->feature, "show the effect of this feature");
  explaining->add_option("--page", options->page, "write all of it as one HTML page");
  explaining->add_flag("--json", options->json, "print the answer as JSON");
  explaining->footer(
      "Examples:\n"
      "  muster learn explain duration.json\n"
      "  muster learn explain duration.json user=ann gpu_num=8 hour=14 --page why.html\n"
      "  muster learn explain duration.json --feature hour");
  explaining->callback(
      [options, &chosen] { chosen.run = [options] { return learn_explain(*options); }; });
}

void add_evaluate(CLI::App& learn, Chosen& chosen, const std::shared_ptr<LearnOptions>& options) {
  CLI::App* evaluating =
      learn.add_subcommand("evaluate", "Measure the error of a model on a table");
  evaluating->add_option("MODEL", options->model, "a model file")->required();
  evaluating->add_option("DATA", options->data, "CSV file with features and target")->required();
  evaluating->add_flag("--json", options->json, "print the answer as JSON");
  evaluating->footer("Examples:\n  muster learn evaluate duration.json last_week.csv");
  evaluating->callback(
      [options, &chosen] { chosen.run = [options] { return learn_evaluate(*options); }; });
}

}  // namespace

void add_learn_command(CLI::App& app, Chosen& chosen) {
  CLI::App* learn = app.add_subcommand(
      "learn", "Train, use and explain models of durations, arrivals and co-location");
  learn->require_subcommand(1);
  const auto options = std::make_shared<LearnOptions>();
  add_train(*learn, chosen, options);
  add_predict(*learn, chosen, options);
  add_explain(*learn, chosen, options);
  add_evaluate(*learn, chosen, options);
  add_learn_trace_commands(*learn, chosen);
}

}  // namespace muster
