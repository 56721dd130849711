#include "learn/model_file.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "workload/byte_input.h"

namespace muster {
namespace {

using Json = nlohmann::json;
constexpr int kVersion = 1;

// Categories are written in the order of their numbers, which terms refer to. A feature of numbers
// has no list of them, which is how a reader tells the two kinds apart.
Json json_of(const FeatureSet& features) {
  Json list = Json::array();
  for (std::size_t i = 0; i < features.size(); ++i) {
    Json feature = {{"name", features[i].name}};
    if (features[i].categorical) feature["categories"] = features[i].categories;
    list.push_back(std::move(feature));
  }
  return list;
}

// Reads what json_of() wrote. What is missing throws, which read_model() turns into an error.
FeatureSet features_of(const Json& list) {
  std::vector<Feature> features;
  for (const Json& item : list) {
    Feature feature;
    feature.name = item.at("name").get<std::string>();
    feature.categorical = item.contains("categories");
    if (feature.categorical) {
      feature.categories = item["categories"].get<std::vector<std::string>>();
    }
    features.push_back(std::move(feature));
  }
  return FeatureSet(std::move(features));
}

// What is wrong with a term, or nothing. A file may come from anywhere, and predictions do not
// check indices. Past this every cell that a row can fall into has a score, a deviation and a
// weight.
std::string fault(const EbmTerm& term, const FeatureSet& features) {
  if (term.features.empty() || term.features.size() > 2 ||
      term.features.size() != term.bins.size()) {
    return "a term needs one or two features";
  }
  std::size_t cells = 1;
  for (std::size_t i = 0; i < term.features.size(); ++i) {
    const auto place = static_cast<std::size_t>(term.features[i]);
    if (term.features[i] < 0 || place >= features.size()) {
      return "a term names a feature that is not there";
    }
    const Bins& bins = term.bins[i];
    if (bins.categorical != features[place].categorical ||
        (bins.categorical &&
         static_cast<std::size_t>(bins.categories) != features[place].categories.size())) {
      return "a term has other categories than its feature";
    }
    if (!std::is_sorted(bins.cuts.begin(), bins.cuts.end())) return "cuts must ascend";
    // The table of a pair has a cell for each combination of bins.
    cells *= static_cast<std::size_t>(bins.count());
  }
  if (term.scores.size() != cells || term.deviations.size() != cells ||
      term.weights.size() != cells) {
    return "a term has another number of scores than of bins";
  }
  return {};
}

// Parses and reads; every error of the library becomes one of ours. The file says which kind of
// model it holds and in which version; a reader that does not know them refuses it.
template <typename Model, typename Read>
Result<Model> read_model(std::string_view text, std::string_view where, std::string_view kind,
                         const Read& read) {
  try {
    const Json json = Json::parse(text);
    if (!json.is_object() || json.value("muster_model", "") != kind) {
      return Error{fmt::format("{}: not a model of kind '{}'", where, kind)};
    }
    if (json.at("version").get<int>() != kVersion) {
      return Error{fmt::format("{}: version {}; this program reads version {}", where,
                               json.at("version").get<int>(), kVersion)};
    }
    return read(json);
  } catch (const Json::exception& problem) {
    return Error{fmt::format("{}: damaged model file: {}", where, problem.what())};
  }
}

}  // namespace

// Numbers are written with as many digits as read back the same double, so that a model predicts
// the same after it is read. Texts from traces may not be UTF-8; invalid bytes are replaced.
std::string to_text(const Ebm& model) {
  Json terms = Json::array();
  for (const EbmTerm& term : model.terms) {
    Json bins = Json::array();
    for (const Bins& one : term.bins) {
      bins.push_back(one.categorical ? Json{{"categories", one.categories}}
                                     : Json{{"cuts", one.cuts}});
    }
    terms.push_back({{"features", term.features},
                     {"bins", bins},
                     {"scores", term.scores},
                     {"deviations", term.deviations},
                     {"weights", term.weights},
                     {"importance", term.importance}});
  }
  const Json json = {{"muster_model", "ebm"},
                     {"version", kVersion},
                     {"target", model.target},
                     {"classify", model.classify},
                     {"classes", model.classes},
                     {"intercept", model.intercept},
                     {"rows", model.rows},
                     {"features", json_of(model.features)},
                     {"terms", terms}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Nodes in a list, with children by position: a deep tree needs no recursion to be read. A leaf has
// counts alone.
std::string to_text(const DecisionTree& model) {
  Json nodes = Json::array();
  for (const DecisionTree::Node& node : model.nodes) {
    Json one = {{"counts", node.counts}};
    if (node.feature >= 0) {
      one["feature"] = node.feature;
      one["cut"] = node.cut;
      one["left"] = node.left;
      one["right"] = node.right;
      one["missing_left"] = node.missing_left;
    }
    nodes.push_back(std::move(one));
  }
  const Json json = {{"muster_model", "tree"},
                     {"version", kVersion},
                     {"target", model.target},
                     {"classes", model.classes},
                     {"features", json_of(model.features)},
                     {"nodes", nodes}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Every term is checked before the model is used: predictions rely on indices and do not check
// them. O(length of the text).
Result<Ebm> ebm_of(std::string_view text, std::string_view where) {
  return read_model<Ebm>(text, where, "ebm", [where](const Json& json) -> Result<Ebm> {
    Ebm model;
    model.target = json.at("target").get<std::string>();
    model.classify = json.at("classify").get<bool>();
    model.classes = json.at("classes").get<std::vector<std::string>>();
    model.intercept = json.at("intercept").get<double>();
    model.rows = json.at("rows").get<double>();
    model.features = features_of(json.at("features"));
    for (const Json& item : json.at("terms")) {
      EbmTerm term;
      term.features = item.at("features").get<std::vector<int>>();
      for (const Json& bins : item.at("bins")) {
        Bins one;
        one.categorical = bins.contains("categories");
        if (one.categorical) {
          one.categories = bins["categories"].get<int>();
        } else {
          one.cuts = bins.at("cuts").get<std::vector<double>>();
        }
        term.bins.push_back(std::move(one));
      }
      term.scores = item.at("scores").get<std::vector<double>>();
      term.deviations = item.at("deviations").get<std::vector<double>>();
      term.weights = item.at("weights").get<std::vector<double>>();
      term.importance = item.at("importance").get<double>();
      if (const std::string problem = fault(term, model.features); !problem.empty()) {
        return Error{fmt::format("{}: damaged model file: {}", where, problem)};
      }
      model.terms.push_back(std::move(term));
    }
    // Look-up tables follow from the terms and are not stored.
    model.index();
    return model;
  });
}

// The same for a tree: every index is checked as its node is read.
Result<DecisionTree> tree_of(std::string_view text, std::string_view where) {
  return read_model<DecisionTree>(
      text, where, "tree", [where](const Json& json) -> Result<DecisionTree> {
        DecisionTree model;
        model.target = json.at("target").get<std::string>();
        model.classes = json.at("classes").get<std::vector<std::string>>();
        model.features = features_of(json.at("features"));
        const auto count = static_cast<int>(json.at("nodes").size());
        for (const Json& item : json.at("nodes")) {
          DecisionTree::Node node;
          node.counts = item.at("counts").get<std::vector<double>>();
          const int self = static_cast<int>(model.nodes.size());
          bool good = node.counts.size() == model.classes.size() && !node.counts.empty();
          if (item.contains("feature")) {
            node.feature = item["feature"].get<int>();
            node.cut = item.at("cut").get<double>();
            node.left = item.at("left").get<int>();
            node.right = item.at("right").get<int>();
            node.missing_left = item.at("missing_left").get<bool>();
            // Children come after their parent, so that every walk ends.
            good = good && node.feature >= 0 &&
                   static_cast<std::size_t>(node.feature) < model.features.size() &&
                   node.left > self && node.right > self && node.left < count && node.right < count;
          }
          if (!good) {
            return Error{fmt::format("{}: damaged model file: node {}", where, self)};
          }
          model.nodes.push_back(std::move(node));
        }
        if (model.nodes.empty()) return Error{fmt::format("{}: a tree without nodes", where)};
        return model;
      });
}

// What a caller asks first, as each kind has a reader of its own. Parses the whole text: models are
// small, and keys come in any order.
Result<std::string> model_kind(std::string_view text, std::string_view where) {
  try {
    const Json json = Json::parse(text);
    if (json.is_object() && json.contains("muster_model") && json["muster_model"].is_string()) {
      return json["muster_model"].get<std::string>();
    }
  } catch (const Json::exception&) {
    return Error{fmt::format("{}: not a model file; `muster learn train` writes them", where)};
  }
  return Error{fmt::format("{}: not a model file; `muster learn train` writes them", where)};
}

// A file of more than 1 GiB is refused rather than read: no model is as large.
Result<Ebm> load_ebm(const std::string& path) {
  const auto text = read_whole(path, std::size_t{1} << 30);
  if (!text) return text.error();
  const auto kind = model_kind(*text, path);
  if (!kind) return kind.error();
  if (*kind != "ebm") {
    return Error{fmt::format(
        "{}: a model of kind '{}'; expected an ebm, whose effects can be drawn", path, *kind)};
  }
  return ebm_of(*text, path);
}

}  // namespace muster
