#include "run/experiment/model_task.h"

#include <cmath>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "learn/boosted.h"
#include "learn/throughput.h"

namespace muster {
namespace {

constexpr std::int64_t kSlot = 600;
constexpr std::string_view kKinds[] = {"ebm", "boosted-trees"};
constexpr std::string_view kTargets[] = {"jobs", "gpus"};
constexpr std::string_view kModelFigures[] = {"mae", "r2", "importance.TERM", "rank.TERM",
                                              "effect.FEATURE.VALUE"};

struct Prepared {
  FeatureSet features;
  std::vector<std::vector<double>> train;  // [feature][row]
  std::vector<std::vector<double>> test;
  std::vector<double> train_target;
  std::vector<double> test_target;
};

Result<Prepared> prepare(const ModelTask& task) {
  const auto table = read_examples(task.file);
  if (!table) return table.error();
  const auto jobs = table->need(task.jobs_column, task.file);
  if (!jobs) return jobs.error();
  const auto gpus = table->need(task.gpus_column, task.file);
  if (!gpus) return gpus.error();
  if (task.train < 1 || task.train >= static_cast<long long>(table->rows)) {
    return Error{
        fmt::format("{}: {} rows to train on, but it has {}", task.file, task.train, table->rows)};
  }
  std::vector<ThroughputSlot> slots;
  for (std::size_t i = 0; i < table->rows; ++i) {
    slots.push_back({task.begin + static_cast<std::int64_t>(i) * kSlot, (*jobs)->numbers[i],
                     (*gpus)->numbers[i]});
  }
  const Examples examples = throughput_features(slots);
  auto features = FeatureSet::of(examples, throughput_feature_names(), task.file);
  if (!features) return features.error();
  const auto columns = features->encode(examples, task.file);
  if (!columns) return columns.error();
  Prepared prepared;
  const auto cut = static_cast<std::ptrdiff_t>(task.train);
  for (const std::vector<double>& column : *columns) {
    prepared.train.emplace_back(column.begin(), column.begin() + cut);
    prepared.test.emplace_back(column.begin() + cut, column.end());
  }
  const std::vector<double>& target = task.target == "gpus" ? (*gpus)->numbers : (*jobs)->numbers;
  prepared.train_target.assign(target.begin(), target.begin() + cut);
  prepared.test_target.assign(target.begin() + cut, target.end());
  prepared.features = std::move(*features);
  return prepared;
}

void add_errors(const std::vector<double>& predicted, const std::vector<double>& truth,
                ModelFigures& figures) {
  const auto rows = static_cast<double>(truth.size());
  double mean = 0;
  for (const double value : truth) mean += value / rows;
  double error = 0;
  double square = 0;
  double spread = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    error += std::abs(predicted[i] - truth[i]) / rows;
    square += (predicted[i] - truth[i]) * (predicted[i] - truth[i]);
    spread += (truth[i] - mean) * (truth[i] - mean);
  }
  figures["mae"] = error;
  figures["r2"] = 1 - square / spread;
}

// What each value of a feature adds, as far as values were seen.
void add_effects(const EbmTerm& term, const Prepared& data, const std::string& name,
                 ModelFigures& figures) {
  std::vector<double> row(data.train.size());
  const auto feature = static_cast<std::size_t>(term.features.front());
  for (const double value : data.train[feature]) {
    const std::string key = fmt::format("effect.{}.{}", name, exact_text(value));
    if (figures.count(key) != 0) continue;
    row[feature] = value;
    figures[key] = term.scores[static_cast<std::size_t>(term.cell(row))];
  }
}

void add_view(const Ebm& model, const Prepared& data, ModelFigures& figures) {
  int rank = 0;
  for (const int i : model.ranking()) {
    const EbmTerm& term = model.terms[static_cast<std::size_t>(i)];
    const std::string name = term.name(model.features);
    figures["importance." + name] = term.importance;
    figures["rank." + name] = ++rank;
    if (term.features.size() == 1) add_effects(term, data, name, figures);
  }
}

}  // namespace

Result<ModelTask> read_model_task(const TomlNode& node, const std::string& where) {
  ModelTask task;
  TomlReader reader(node, where, "run.model");
  reader.read("file", task.file);
  reader.read("jobs_column", task.jobs_column);
  reader.read("gpus_column", task.gpus_column);
  reader.read("kind", task.kind);
  reader.read("target", task.target);
  reader.read("begin", task.begin);
  reader.read("train", task.train);
  reader.read("bins", task.bins);
  if (task.kind != "ebm" && task.kind != "boosted-trees") {
    reader.fail(node, unknown_name("kind of model", task.kind, kKinds));
  }
  if (task.target != "jobs" && task.target != "gpus") {
    reader.fail(node, unknown_name("target", task.target, kTargets));
  }
  if (Status read = reader.finish(); !read) return read.error();
  return task;
}

Status check_model_figure(std::string_view key) {
  for (const std::string_view start : {"importance.", "rank.", "effect."}) {
    if (key.starts_with(start)) return Done{};
  }
  if (key == "mae" || key == "r2") return Done{};
  return Error{unknown_name("figure of a model", key, kModelFigures)};
}

Result<ModelFigures> run_model_task(const ModelTask& task,
                                    const std::function<bool()>& keep_going) {
  const auto data = prepare(task);
  if (!data) return data.error();
  ModelFigures figures;
  std::vector<double> predicted;
  if (task.kind == "boosted-trees") {
    const auto model = train_boosted_trees(data->features, data->train, data->train_target,
                                           task.target, BoostedOptions{});
    if (!model) return model.error();
    auto answers = (*model)->predict(data->test);
    if (!answers) return answers.error();
    predicted = std::move(*answers);
  } else {
    EbmOptions options = throughput_options();
    options.keep_going = keep_going;
    if (task.bins > 0) options.max_bins = static_cast<int>(task.bins);
    const auto model = train_ebm(data->features, data->train, data->train_target, options);
    if (!model) return model.error();
    std::vector<double> row(data->test.size());
    for (std::size_t i = 0; i < data->test_target.size(); ++i) {
      for (std::size_t f = 0; f < row.size(); ++f) row[f] = data->test[f][i];
      predicted.push_back(model->predict(row));
    }
    add_view(*model, *data, figures);
  }
  add_errors(predicted, data->test_target, figures);
  return figures;
}

}  // namespace muster
