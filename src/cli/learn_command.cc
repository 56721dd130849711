// `muster learn`: models that a person can read, trained on a table of examples.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/learn_parts.h"

namespace muster {
namespace {

void add_train(CLI::App& learn, Chosen& chosen, const std::shared_ptr<LearnOptions>& options) {
  CLI::App* training = learn.add_subcommand("train", "Learn a column of a table from the others");
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
  training->callback(
      [options, &chosen] { chosen.run = [options] { return learn_train(*options); }; });
}

void add_predict(CLI::App& learn, Chosen& chosen, const std::shared_ptr<LearnOptions>& options) {
  CLI::App* predicting = learn.add_subcommand("predict", "Answers of a model for a table");
  predicting->add_option("MODEL", options->model, "A model file")->required();
  predicting->add_option("DATA", options->data, "CSV file with the model's features")->required();
  predicting->add_option("--id", options->id,
                         "Write this column beside each answer, as --estimates wants it");
  predicting->footer(
      "Examples:\n"
      "  muster learn predict duration.json new_jobs.csv\n"
      "  muster learn predict duration.json new_jobs.csv --id job_id > estimates.csv");
  predicting->callback(
      [options, &chosen] { chosen.run = [options] { return learn_predict(*options); }; });
}

void add_explain(CLI::App& learn, Chosen& chosen, const std::shared_ptr<LearnOptions>& options) {
  CLI::App* explaining = learn.add_subcommand(
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
      [options, &chosen] { chosen.run = [options] { return learn_explain(*options); }; });
}

void add_evaluate(CLI::App& learn, Chosen& chosen, const std::shared_ptr<LearnOptions>& options) {
  CLI::App* evaluating = learn.add_subcommand("evaluate", "How wrong a model is on a table");
  evaluating->add_option("MODEL", options->model, "A model file")->required();
  evaluating->add_option("DATA", options->data, "CSV file with features and target")->required();
  evaluating->add_flag("--json", options->json, "For scripts");
  evaluating->footer("Examples:\n  muster learn evaluate duration.json september.csv");
  evaluating->callback(
      [options, &chosen] { chosen.run = [options] { return learn_evaluate(*options); }; });
}

}  // namespace

void add_learn_command(CLI::App& app, Chosen& chosen) {
  CLI::App* learn = app.add_subcommand(
      "learn", "Train, use and read models: how long jobs run, how many come, who disturbs whom");
  learn->require_subcommand(1);
  const auto options = std::make_shared<LearnOptions>();
  add_train(*learn, chosen, options);
  add_predict(*learn, chosen, options);
  add_explain(*learn, chosen, options);
  add_evaluate(*learn, chosen, options);
  add_learn_trace_commands(*learn, chosen);
}

}  // namespace muster
