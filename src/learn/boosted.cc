#include "learn/boosted.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/shared_library.h"

namespace muster {
namespace {

using Json = nlohmann::json;

// The functions of its C interface that are used here, each of which returns 0 when all is well.
// They are declared here, so that the command is the same where the library is not installed.
struct Xgb {
  using Matrix = void*;
  using Booster = void*;
  using Size = std::uint64_t;
  using Text = const char*;

  SharedLibrary library{{"libxgboost.so.0", "libxgboost.so"}, "libxgboost0"};
  Text (*last_error)() = library.function("XGBGetLastError");
  int (*matrix_create)(const float* cells, Size rows, Size columns, float missing,
                       Matrix*) = library.function("XGDMatrixCreateFromMat");
  int (*matrix_set)(Matrix, Text field, const float*,
                    Size) = library.function("XGDMatrixSetFloatInfo");
  int (*matrix_free)(Matrix) = library.function("XGDMatrixFree");
  int (*create)(const Matrix cached[], Size, Booster*) = library.function("XGBoosterCreate");
  int (*set)(Booster, Text name, Text value) = library.function("XGBoosterSetParam");
  int (*update)(Booster, int round, Matrix) = library.function("XGBoosterUpdateOneIter");
  int (*predict)(Booster, Matrix, int options, unsigned trees, int training, Size*,
                 const float**) = library.function("XGBoosterPredict");
  int (*load)(Booster, const void*, Size) = library.function("XGBoosterLoadModelFromBuffer");
  int (*save)(Booster, Text settings, Size*,
              Text*) = library.function("XGBoosterSaveModelToBuffer");
  int (*free)(Booster) = library.function("XGBoosterFree");
};

// Loaded at the first call. Throws MissingLibrary if it is not installed; the functions that
// callers see turn that into an error.
const Xgb& xgb() {
  static const Xgb table;
  return table;
}

Error failure(std::string_view what) {
  return Error{fmt::format("XGBoost: {}: {}", what, xgb().last_error())};
}

// XGBoost's table of rows, freed with the object. It is filled row by row in single precision,
// which is what its histograms are made from; missing values are marked, and each tree learns where
// they go (Chen and Guestrin, "XGBoost: a scalable tree boosting system", KDD'16, section 3.4).
class Matrix {
 public:
  Matrix() = default;
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() {
    if (handle_ != nullptr) xgb().matrix_free(handle_);
  }
  Status fill(const std::vector<std::vector<double>>& columns) {
    const std::size_t rows = columns.empty() ? 0 : columns.front().size();
    std::vector<float> cells(rows * columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c) {
      for (std::size_t r = 0; r < rows; ++r) {
        cells[r * columns.size() + c] = static_cast<float>(columns[c][r]);
      }
    }
    const auto missing = static_cast<float>(kMissingNumber);
    if (xgb().matrix_create(cells.data(), rows, columns.size(), missing, &handle_) != 0) {
      return failure("reading the rows");
    }
    return Done{};
  }
  Xgb::Matrix get() const { return handle_; }

 private:
  Xgb::Matrix handle_ = nullptr;
};

// Gradient boosting of trees grown by histogram splits, with squared error or log loss. The booster
// is made by train() or load(), one of which comes first, and is freed with the object.
class XgBoost final : public BoostedTrees {
 public:
  XgBoost(FeatureSet features, std::string target)
      : features_(std::move(features)), target_(std::move(target)) {}
  XgBoost(const XgBoost&) = delete;
  XgBoost& operator=(const XgBoost&) = delete;
  ~XgBoost() override {
    if (booster_ != nullptr) xgb().free(booster_);
  }

  Status train(const std::vector<std::vector<double>>& columns, const std::vector<double>& target,
               const BoostedOptions& options) {
    Matrix matrix;
    if (Status filled = matrix.fill(columns); !filled) return filled;
    const std::vector<float> labels(target.begin(), target.end());
    if (xgb().matrix_set(matrix.get(), "label", labels.data(), labels.size()) != 0) {
      return failure("reading the target");
    }
    const Xgb::Matrix handles[] = {matrix.get()};
    if (xgb().create(handles, 1, &booster_) != 0) return failure("starting");
    // Trees grown level by level on histograms of binned features: O(rows x features) for each
    // level of each tree.
    const std::vector<std::pair<std::string, std::string>> settings = {
        {"objective", options.classify ? "binary:logistic" : "reg:squarederror"},
        {"max_depth", std::to_string(options.depth)},
        // Shrinkage and row sampling regularise the ensemble (Friedman, "Stochastic gradient
        // boosting", 2002).
        {"eta", fmt::format("{}", options.learning_rate)},
        {"subsample", fmt::format("{}", options.row_share)},
        {"min_child_weight", std::to_string(options.min_leaf)},
        {"tree_method", "hist"},
        {"seed", std::to_string(options.seed)},
        {"nthread", std::to_string(options.threads)},
        {"verbosity", "0"}};
    for (const auto& [name, value] : settings) {
      if (xgb().set(booster_, name.c_str(), value.c_str()) != 0) return failure(name);
    }
    for (int round = 0; round < options.rounds; ++round) {
      // One boosting round: a tree fitted to first and second derivatives of the loss, a Newton
      // step in function space.
      if (xgb().update(booster_, round, matrix.get()) != 0) return failure("training");
    }
    return Done{};
  }

  Status load(const std::string& raw) {
    if (xgb().create(nullptr, 0, &booster_) != 0) return failure("starting");
    if (xgb().load(booster_, raw.data(), raw.size()) != 0) {
      return failure("reading a model");
    }
    return Done{};
  }

  // The values belong to the library until its next call, so they are copied.
  Result<std::vector<double>> predict(
      const std::vector<std::vector<double>>& columns) const override {
    Matrix matrix;
    if (Status filled = matrix.fill(columns); !filled) return filled.error();
    Xgb::Size count = 0;
    const float* values = nullptr;
    // No limit on the number of trees (0), and the transformed output: a probability for classes.
    if (xgb().predict(booster_, matrix.get(), 0, 0, 0, &count, &values) != 0) {
      return failure("predicting");
    }
    return std::vector<double>(values, values + count);
  }
  const FeatureSet& features() const override { return features_; }
  const std::string& target() const override { return target_; }
  // XGBoost's own text inside ours: it does not know the names of features and categories.
  Result<std::string> text() const override {
    Xgb::Size size = 0;
    const char* bytes = nullptr;
    if (xgb().save(booster_, R"({"format": "json"})", &size, &bytes) != 0) {
      return failure("writing the model");
    }
    Json features = Json::array();
    for (std::size_t i = 0; i < features_.size(); ++i) {
      Json one = {{"name", features_[i].name}};
      if (features_[i].categorical) one["categories"] = features_[i].categories;
      features.push_back(std::move(one));
    }
    const Json json = {{"muster_model", "boosted-trees"},
                       {"version", 1},
                       {"target", target_},
                       {"features", features},
                       {"xgboost", std::string(bytes, size)}};
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }

 private:
  FeatureSet features_;
  std::string target_;
  Xgb::Booster booster_ = nullptr;
};

}  // namespace

bool has_boosted_trees() {
  try {
    xgb();
    return true;
  } catch (const MissingLibrary&) {
    return false;
  }
}

Result<std::unique_ptr<BoostedTrees>> train_boosted_trees(
    const FeatureSet& features, const std::vector<std::vector<double>>& columns,
    const std::vector<double>& target, std::string target_name, const BoostedOptions& options) {
  if (target.empty()) return Error{"no training rows"};
  try {
    auto model = std::make_unique<XgBoost>(features, std::move(target_name));
    if (Status trained = model->train(columns, target, options); !trained) return trained.error();
    return std::unique_ptr<BoostedTrees>(std::move(model));
  } catch (const MissingLibrary& missing) {
    return Error{fmt::format("{}; or use an ebm", missing.what())};
  }
}

// Reads what text() wrote: our names of features and categories, and XGBoost's own text as it is.
// A file may come from anywhere, so whatever throws becomes an error that names it.
Result<std::unique_ptr<BoostedTrees>> boosted_trees_of(std::string_view text,
                                                       std::string_view where) {
  try {
    const Json json = Json::parse(text);
    std::vector<Feature> features;
    for (const Json& item : json.at("features")) {
      Feature feature;
      feature.name = item.at("name").get<std::string>();
      feature.categorical = item.contains("categories");
      if (feature.categorical) {
        feature.categories = item["categories"].get<std::vector<std::string>>();
      }
      features.push_back(std::move(feature));
    }
    auto model = std::make_unique<XgBoost>(FeatureSet(std::move(features)),
                                           json.at("target").get<std::string>());
    if (Status loaded = model->load(json.at("xgboost").get<std::string>()); !loaded) {
      return Error{fmt::format("{}: {}", where, loaded.error().message)};
    }
    return std::unique_ptr<BoostedTrees>(std::move(model));
  } catch (const Json::exception& problem) {
    return Error{fmt::format("{}: damaged model file: {}", where, problem.what())};
  } catch (const MissingLibrary& missing) {
    return Error{fmt::format("{}: {}", where, missing.what())};
  }
}

}  // namespace muster
