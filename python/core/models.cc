// Models that a person can read: trained on columns, asked row by row, kept as the text of their
// file.
#include <optional>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "core/parts.h"
#include "core/watched.h"
#include "learn/ebm.h"
#include "learn/model_file.h"
#include "learn/model_page.h"
#include "learn/tree.h"

namespace muster::python {
namespace {

using Columns = std::vector<std::vector<double>>;

FeatureSet features_of(const std::vector<std::string>& names) {
  std::vector<Feature> features;
  for (const std::string& name : names) features.push_back({name, false, {}});
  return FeatureSet(std::move(features));
}

// Rows, one after the other, as columns.
Columns columns_of(nb::handle rows, std::size_t features) {
  const Numbers<double> numbers(rows);
  Columns columns(features);
  for (std::size_t i = 0; i < numbers.size(); ++i) columns[i % features].push_back(numbers[i]);
  return columns;
}

template <typename T>
T option(const nb::dict& options, const char* name, T usual) {
  return options.contains(name) ? nb::cast<T>(options[name]) : usual;
}

// Ctrl-C ends training between two of its steps, which are counted for a display.
template <typename Options, typename Training>
auto trained(Options& options, nb::object progress, const Training& training) {
  Watch watch;
  options.keep_going = [&watch] {
    watch.progress.fetch_add(1, std::memory_order_relaxed);
    return watch.keep_going();
  };
  std::optional<decltype(training())> model;
  watched(watch, {std::move(progress), 0, {}}, [&] { model.emplace(training()); });
  return must(std::move(*model));
}

Ebm train(const std::vector<std::string>& names, nb::handle rows, nb::handle target,
          const std::vector<std::string>& classes, const nb::dict& given, nb::object progress) {
  EbmOptions options;
  options.max_bins = option(given, "max_bins", options.max_bins);
  options.pairs = option(given, "interactions", options.pairs);
  options.bags = option(given, "bags", options.bags);
  options.learning_rate = option(given, "learning_rate", options.learning_rate);
  options.max_rounds = option(given, "max_rounds", options.max_rounds);
  options.seed = option(given, "seed", options.seed);
  options.threads = option(given, "threads", options.threads);
  options.classify = !classes.empty();
  const Columns columns = columns_of(rows, names.size());
  const Numbers<double> numbers(target);
  const std::vector<double> values(numbers.begin(), numbers.end());
  Ebm model = trained(options, std::move(progress),
                      [&] { return train_ebm(features_of(names), columns, values, options); });
  model.classes = classes;
  return model;
}

template <typename Model, typename Predict>
nb::bytes predicted(const Model& model, nb::handle rows, const Predict& predict) {
  const Numbers<double> numbers(rows);
  const std::size_t width = model.features.size();
  std::vector<double> answers(numbers.size() / width);
  {
    const nb::gil_scoped_release release;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      answers[i] = predict(std::span<const double>(numbers.begin() + i * width, width));
    }
  }
  return bytes_of(answers);
}

nb::list terms_of(const Ebm& model) {
  nb::list terms;
  for (const int at : model.ranking()) {
    const EbmTerm& term = model.terms[static_cast<std::size_t>(at)];
    nb::dict one;
    one["name"] = term.name(model.features);
    one["importance"] = term.importance;
    one["features"] = term.features;
    std::vector<std::vector<double>> cuts;
    for (const Bins& bins : term.bins) cuts.push_back(bins.cuts);
    one["cuts"] = cuts;
    one["scores"] = bytes_of(term.scores);
    one["deviations"] = bytes_of(term.deviations);
    one["weights"] = bytes_of(term.weights);
    terms.append(one);
  }
  return terms;
}

nb::tuple explained(const Ebm& model, nb::handle row) {
  const Numbers<double> numbers(row);
  const Explanation explanation =
      model.explain(std::span<const double>(numbers.begin(), numbers.size()));
  nb::list parts;
  for (const Explanation::Part& part : explanation.parts) {
    parts.append(
        nb::make_tuple(model.terms[static_cast<std::size_t>(part.term)].name(model.features),
                       part.score, part.deviation));
  }
  return nb::make_tuple(explanation.intercept, parts, explanation.prediction);
}

DecisionTree grow(const std::vector<std::string>& names, nb::handle rows, nb::handle target,
                  const std::vector<std::string>& classes, const nb::dict& given,
                  nb::object progress) {
  TreeOptions options;
  options.max_depth = option(given, "max_depth", options.max_depth);
  options.min_leaf = option(given, "min_leaf", options.min_leaf);
  options.prune = option(given, "prune", options.prune);
  const Columns columns = columns_of(rows, names.size());
  const Numbers<std::int64_t> numbers(target);
  const std::vector<int> values(numbers.begin(), numbers.end());
  return trained(options, std::move(progress),
                 [&] { return train_tree(features_of(names), columns, values, classes, options); });
}

// The share of each class in the leaf that a row falls into, row by row.
nb::bytes shares(const DecisionTree& tree, nb::handle rows) {
  const Numbers<double> numbers(rows);
  const std::size_t width = tree.features.size();
  std::vector<double> answers;
  for (std::size_t i = 0; i * width < numbers.size(); ++i) {
    const auto path = tree.path(std::span<const double>(numbers.begin() + i * width, width));
    const DecisionTree::Node& leaf = tree.nodes[static_cast<std::size_t>(path.back())];
    for (const double count : leaf.counts) answers.push_back(count / leaf.rows());
  }
  return bytes_of(answers);
}

}  // namespace

void add_models(nb::module_& module) {
  nb::class_<Ebm>(module, "Ebm")
      .def_static("train", train, nb::arg("names"), nb::arg("rows"), nb::arg("target"),
                  nb::arg("classes"), nb::arg("options"), nb::arg("progress").none())
      .def_static("of", [](const std::string& text) { return must(ebm_of(text, "the model")); })
      .def_prop_ro("text", [](const Ebm& model) { return to_text(model); })
      .def_prop_ro("intercept", [](const Ebm& model) { return model.intercept; })
      .def("predict",
           [](const Ebm& model, nb::handle rows) {
             return predicted(model, rows,
                              [&](std::span<const double> row) { return model.predict(row); });
           })
      .def("terms", terms_of)
      .def("explain", explained);
  nb::class_<DecisionTree>(module, "DecisionTree")
      .def_static("train", grow, nb::arg("names"), nb::arg("rows"), nb::arg("target"),
                  nb::arg("classes"), nb::arg("options"), nb::arg("progress").none())
      .def_static("of", [](const std::string& text) { return must(tree_of(text, "the model")); })
      .def_prop_ro("text", [](const DecisionTree& tree) { return to_text(tree); })
      .def_prop_ro("picture", [](const DecisionTree& tree) { return tree.text(); })
      .def_prop_ro("importances", [](const DecisionTree& tree) { return tree.importances(); })
      .def("shares", shares);
}

}  // namespace muster::python
