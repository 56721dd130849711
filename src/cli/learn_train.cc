// `muster learn train`.
#include <algorithm>

#include <fmt/format.h>

#include "base/out_file.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/learn_parts.h"
#include "learn/model_file.h"

namespace muster {
namespace {

// What a model is trained on.
struct Lesson {
  FeatureSet features;
  std::vector<std::vector<double>> columns;
  TargetColumn target;
};

// The columns to learn from: those that were named, or all but the target and what was dropped.
std::vector<std::string> feature_names(const LearnOptions& options, const Examples& examples) {
  if (!options.features.empty()) return options.features;
  std::vector<std::string> names;
  const auto& drop = options.drop;
  for (const ExampleColumn& column : examples.columns) {
    if (column.name == options.target) continue;
    if (std::find(drop.begin(), drop.end(), column.name) == drop.end()) {
      names.push_back(column.name);
    }
  }
  return names;
}

Result<Lesson> read_lesson(const LearnOptions& options) {
  std::vector<std::string> as_text = options.as_text;
  if (options.kind == "tree") as_text.push_back(options.target);
  const auto examples = read_examples(options.data, as_text);
  if (!examples) return examples.error();
  auto target = target_of(*examples, options.target, options.data, {});
  if (!target) return target.error();
  auto features = FeatureSet::of(*examples, feature_names(options, *examples), options.data);
  if (!features) return features.error();
  auto columns = features->encode(*examples, options.data);
  if (!columns) return columns.error();
  return Lesson{std::move(*features), std::move(*columns), std::move(*target)};
}

// `request` is FEATURE, FEATURE:up or FEATURE:down.
Status grant_monotone(const std::string& request, Ebm& model) {
  const std::size_t colon = request.find(':');
  const std::string way = colon == std::string::npos ? "auto" : request.substr(colon + 1);
  if (way != "auto" && way != "up" && way != "down") {
    return Error{
        fmt::format("--monotone {}: expected FEATURE, FEATURE:up or FEATURE:down", request)};
  }
  const Direction direction = way == "up"     ? Direction::kIncreasing
                              : way == "down" ? Direction::kDecreasing
                                              : Direction::kAutomatic;
  return make_monotone(model, request.substr(0, colon), direction);
}

// Each of these trains a model, says a line about it and returns the text of its file.
Result<std::string> train_as_ebm(const LearnOptions& options, const Lesson& lesson) {
  EbmOptions settings = options.ebm;
  settings.classify = !lesson.target.classes.empty();
  settings.keep_going = stops_at_interrupt();
  if (settings.classify && lesson.target.classes.size() != 2) {
    return Error{fmt::format(
        "{}: target '{}' has {} classes; an ebm predicts two, a tree (--kind tree) any number",
        options.data, options.target, lesson.target.classes.size())};
  }
  auto model = train_ebm(lesson.features, lesson.columns, lesson.target.values, settings);
  if (!model) return Error{fmt::format("{}: {}", options.data, model.error().message)};
  model->target = options.target;
  model->classes = lesson.target.classes;
  for (const std::string& request : options.monotone) {
    if (Status made = grant_monotone(request, *model); !made) return made.error();
  }
  fmt::print(
      "{} terms on {} rows; most important: {}\n", model->terms.size(), model->rows,
      model->terms[static_cast<std::size_t>(model->ranking().front())].name(lesson.features));
  return to_text(*model);
}

Result<std::string> train_as_tree(const LearnOptions& options, const Lesson& lesson) {
  TreeOptions settings;
  settings.prune = options.prune;
  settings.keep_going = stops_at_interrupt();
  const TargetColumn& target = lesson.target;
  const std::vector<int> classes(target.values.begin(), target.values.end());
  auto model = train_tree(lesson.features, lesson.columns, classes, target.classes, settings);
  if (!model) return model.error();
  model->target = options.target;
  fmt::print("{} leaves, depth {}\n", model->leaves(), model->depth());
  return to_text(*model);
}

Result<std::string> train_as_boosted_trees(const LearnOptions& options, const Lesson& lesson) {
  if (!lesson.target.classes.empty()) {
    return Error{"boosted-trees predict numbers; use --kind ebm or tree for classes"};
  }
  const auto model = train_boosted_trees(lesson.features, lesson.columns, lesson.target.values,
                                         options.target, {});
  if (!model) return model.error();
  auto text = (*model)->text();
  if (text) fmt::print("trained on {} rows\n", lesson.target.values.size());
  return text;
}

}  // namespace

int learn_train(const LearnOptions& options) {
  const auto lesson = read_lesson(options);
  if (!lesson) return complain(lesson.error());
  const auto text = options.kind == "ebm"    ? train_as_ebm(options, *lesson)
                    : options.kind == "tree" ? train_as_tree(options, *lesson)
                                             : train_as_boosted_trees(options, *lesson);
  if (interrupted()) return kExitInterrupted;
  if (!text) return complain(text.error());
  if (Status written = replace_file(options.output, *text); !written) {
    return complain(written.error(), kExitFailed);
  }
  fmt::print("written to {}\n", options.output);
  return kExitOk;
}

}  // namespace muster
