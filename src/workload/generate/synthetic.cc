#include "workload/generate/synthetic.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace muster {
namespace {

class ClassShape final : public JobShape {
 public:
  ClassShape(const std::vector<std::vector<JobClass>>& kinds, DurationLimits limits)
      : limits_(limits) {
    for (const std::vector<JobClass>& classes : kinds) {
      std::vector<double> weights;
      double sum = 0;
      double gpu_seconds = 0;
      for (const JobClass& one : classes) {
        weights.push_back(one.weight);
        sum += one.weight;
        gpu_seconds += one.weight * one.gpus * one.duration.clamped_mean(limits.least, limits.most);
      }
      kinds_.push_back({classes, WeightedChoice(weights), gpu_seconds / sum});
    }
  }

  void draw(int kind, Random& random, JobSpec& job) override {
    const Kind& from = kinds_[static_cast<std::size_t>(kind)];
    const JobClass& one = from.classes[from.choice.draw(random)];
    job.gpus = one.gpus;
    job.duration = limits_.apply(one.duration.draw(random));
  }
  double mean_gpu_seconds(int kind) const override {
    return kinds_[static_cast<std::size_t>(kind)].mean_gpu_seconds;
  }

 private:
  struct Kind {
    std::vector<JobClass> classes;
    WeightedChoice choice;
    double mean_gpu_seconds;
  };
  std::vector<Kind> kinds_;
  DurationLimits limits_;
};

// Symbols drawn by weight.
class Labels {
 public:
  Labels(const std::vector<Weighted>& items, std::uint64_t seed, std::string_view purpose,
         Symbols& symbols)
      : random_(seed, purpose) {
    std::vector<double> weights;
    for (const Weighted& item : items) {
      symbols_.push_back(symbols.intern(item.name));
      weights.push_back(item.weight);
    }
    choice_.emplace(weights);
  }
  Symbol draw() { return symbols_[choice_->draw(random_)]; }

 private:
  Random random_;
  std::vector<Symbol> symbols_;
  std::optional<WeightedChoice> choice_;
};

enum class Estimates { kNone, kExact, kNoisy };

struct Extras {
  std::optional<Labels> users;
  std::optional<Labels> partitions;
  std::optional<Labels> models;
  Estimates estimates = Estimates::kNone;
  double estimate_error = 0;
  double deadline_share = 0;
  double tightness_low = 0;
  double tightness_high = 0;
  bool whole_seconds = true;
};

class SyntheticSource final : public JobSource {
 public:
  SyntheticSource(std::uint64_t seed, std::uint64_t jobs, Extras extras,
                  std::unique_ptr<ArrivalProcess> arrivals, std::unique_ptr<JobShape> shape)
      : jobs_(jobs),
        extras_(std::move(extras)),
        arrivals_(std::move(arrivals)),
        shape_(std::move(shape)),
        classes_(dynamic_cast<ClassShape*>(shape_.get())),
        arrival_random_(seed, "arrivals"),
        shape_random_(seed, "shapes"),
        burst_shape_random_(seed, "shapes of bursts"),
        estimate_random_(seed, "estimates"),
        deadline_random_(seed, "deadlines") {}

  const JobSpec* peek() override {
    if (finished()) return nullptr;
    if (!drawn_) draw();
    return &job_;
  }
  void pop() override {
    drawn_ = false;
    ++made_;
  }
  bool finished() override { return jobs_ != 0 && made_ == jobs_; }

 private:
  void draw() {
    const Arrival arrival = arrivals_->next(arrival_random_);
    // How many come in a burst before the next plain job depends on the load; which jobs they are
    // does not.
    Random& random = arrival.kind == 0 ? shape_random_ : burst_shape_random_;
    if (classes_ != nullptr) {
      classes_->draw(arrival.kind, random, job_);
    } else {
      shape_->draw(arrival.kind, random, job_);
    }
    job_.submit = extras_.whole_seconds ? std::floor(arrival.time) : arrival.time;
    job_.arrival = job_.submit;
    if (extras_.whole_seconds) job_.duration = std::max(1.0, std::floor(job_.duration + 0.5));
    if (extras_.users) job_.user = extras_.users->draw();
    if (extras_.partitions) job_.partition = extras_.partitions->draw();
    if (extras_.models) job_.model = extras_.models->draw();
    if (extras_.estimates != Estimates::kNone) job_.estimate = estimate();
    if (extras_.deadline_share > 0) job_.deadline = deadline();
    drawn_ = true;
  }

  Seconds estimate() {
    if (extras_.estimates == Estimates::kExact) return job_.duration;
    const Seconds guess = job_.duration * estimate_random_.log_normal(0, extras_.estimate_error);
    return extras_.whole_seconds ? std::max(1.0, std::floor(guess + 0.5)) : guess;
  }

  // Two draws whether it has one or not, so that another share leaves the same jobs with the same
  // deadlines.
  Seconds deadline() {
    const bool has = deadline_random_.chance(extras_.deadline_share);
    const double factor = deadline_random_.uniform(extras_.tightness_low, extras_.tightness_high);
    if (!has) return kNever;
    const Seconds at = job_.submit + job_.duration * factor;
    return extras_.whole_seconds ? std::floor(at + 0.5) : at;
  }

  std::uint64_t jobs_;  // 0: without end
  Extras extras_;
  std::unique_ptr<ArrivalProcess> arrivals_;
  std::unique_ptr<JobShape> shape_;
  ClassShape* classes_;  // the same, where it is one, as mostly: its draws need no virtual calls
  Random arrival_random_;
  Random shape_random_;
  Random burst_shape_random_;
  Random estimate_random_;
  Random deadline_random_;
  JobSpec job_;
  bool drawn_ = false;
  std::uint64_t made_ = 0;
};

std::vector<Weighted> user_names(std::int64_t count, double skew) {
  std::vector<Weighted> users;
  users.reserve(static_cast<std::size_t>(count));
  for (std::int64_t k = 1; k <= count; ++k) {
    users.push_back({fmt::format("user{}", k), std::pow(static_cast<double>(k), -skew)});
  }
  return users;
}

}  // namespace

std::unique_ptr<JobShape> make_class_shape(const std::vector<std::vector<JobClass>>& kinds,
                                           DurationLimits limits) {
  return std::make_unique<ClassShape>(kinds, limits);
}

Result<std::unique_ptr<JobSource>> make_synthetic(const Params& params, Symbols& symbols,
                                                  std::unique_ptr<ArrivalProcess> arrivals,
                                                  std::unique_ptr<JobShape> shape) {
  const auto seed = static_cast<std::uint64_t>(params.integer("seed"));
  Extras extras;
  if (const auto users = params.integer("users"); users > 0) {
    extras.users.emplace(user_names(users, params.real("user_skew")), seed, "users", symbols);
  }
  const Result<std::vector<Weighted>> partitions =
      parse_weighted(params.text("partitions"), "partitions");
  if (!partitions) return partitions.error();
  if (!partitions->empty()) extras.partitions.emplace(*partitions, seed, "partitions", symbols);
  const Result<std::vector<Weighted>> models = parse_weighted(params.text("models"), "models");
  if (!models) return models.error();
  if (!models->empty()) extras.models.emplace(*models, seed, "models", symbols);
  const std::string& estimates = params.text("estimates");
  if (estimates == "exact") extras.estimates = Estimates::kExact;
  if (estimates == "noisy") extras.estimates = Estimates::kNoisy;
  extras.estimate_error = params.real("estimate_error");
  extras.deadline_share = params.real("deadline_share");
  extras.tightness_low = params.real("tightness_low");
  extras.tightness_high = params.real("tightness_high");
  if (extras.tightness_high < extras.tightness_low) {
    return Error{"parameter 'tightness_high' is below 'tightness_low'"};
  }
  extras.whole_seconds = params.flag("whole_seconds");
  const auto jobs = static_cast<std::uint64_t>(params.integer("jobs"));
  return std::unique_ptr<JobSource>(std::make_unique<SyntheticSource>(
      seed, jobs, std::move(extras), std::move(arrivals), std::move(shape)));
}

}  // namespace muster
