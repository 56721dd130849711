// The generator venus-like: users with habits on 15 virtual clusters.
//
// A user has a handful of habits: a size, a workload and a typical length. Users come for sessions,
// which follow the hours of the day and the week; in a session jobs follow each other closely and
// are mostly of one habit. Sizes and durations of each virtual cluster, and the GPU time asked for,
// are those of the published figures.
#include <algorithm>
#include <cmath>
#include <memory>
#include <queue>

#include <fmt/format.h>

#include "base/random.h"
#include "workload/generate/first_jobs.h"
#include "workload/generate/generator_rows.h"
#include "workload/generate/synthetic.h"
#include "workload/generate/venus_figures.h"

namespace muster {
namespace {

constexpr double kDays = 26;
constexpr int kHabits = 6;         // of a user
constexpr double kUserSkew = 1.4;  // user k of a virtual cluster comes in proportion to k^-skew
// How the length of a job is made of its habit, its session and chance; the squares add up to 1.
constexpr double kHabitPart = 0.59;
constexpr double kSessionPart = 0.45;
constexpr double kChancePart = 0.67;
constexpr double kStays = 0.9;      // the next job of a session is of the same habit
constexpr double kTogether = 0.14;  // and comes in the same second
constexpr double kGapMu = 4.85;     // else after a log-normal gap, at most an hour
constexpr double kGapSigma = 1.3;
constexpr double kLongestGap = 3600;
constexpr double kSessionMu = 1.1;  // jobs of a session: log-normal, rounded up
constexpr double kSessionSigma = 1.4;
constexpr int kLongestSession = 200;

// The standard normal distribution and its inverse, the latter by halving.
double normal_below(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }
double normal_at(double part) {
  double low = -8;
  double high = 8;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (normal_below(middle) < part ? low : high) = middle;
  }
  return (low + high) / 2;
}

// A distribution of durations from its figures.
class Lengths {
 public:
  explicit Lengths(const VenusDurations& figures) : figures_(figures) {}
  double at(double part) const {
    std::size_t i = 1;
    while (i + 1 < kVenusParts.size() && part > kVenusParts[i]) ++i;
    const double share = (part - kVenusParts[i - 1]) / (kVenusParts[i] - kVenusParts[i - 1]);
    const double length = figures_[i - 1] * std::pow(figures_[i] / figures_[i - 1], share);
    return length <= tail() ? length : tail() + (length - tail()) * stretch_;
  }
  // Lengths beyond this one, the longest tenth, are stretched.
  double tail() const { return figures_[5]; }
  void stretch(double factor) { stretch_ = factor; }

 private:
  VenusDurations figures_;
  double stretch_ = 1;
};

// Workloads by how long jobs of that kind run; the profiles that go with them are in
// presets/venus_like_profiles.csv.
constexpr std::string_view kShort[] = {"vision-small/32", "vision-small/64", "vision-small/128",
                                       "point-cloud/32",  "point-cloud/64",  "control/64"};
constexpr std::string_view kMedium[] = {"control/128", "recommender/64", "recommender/128",
                                        "vision-medium/64"};
constexpr std::string_view kLong[] = {"images-from-noise/64", "sequence/64", "translation/64"};
constexpr std::string_view kVeryLong[] = {"language-large/32", "vision-large/64",
                                          "vision-large/128"};

std::string_view workload_for(double length, Random& random) {
  const auto one_of = [&](auto& names) { return names[random.below(std::size(names))]; };
  if (length > 36000) return one_of(kVeryLong);
  if (length > 10800) return one_of(kLong);
  const double small = length > 1800 ? 0.39 : 0.82;
  return random.chance(small) ? one_of(kShort) : one_of(kMedium);
}

struct Habit {
  double weight = 0;  // of all jobs of the virtual cluster
  int gpus = 1;
  double level = 0;  // standard normal: how long its jobs are among those of the virtual cluster
  Symbol model = kNoSymbol;
};

struct User {
  Symbol name = kNoSymbol;
  std::vector<Habit> habits;
};

// One virtual cluster with its people.
class Venue {
 public:
  Venue(const VenusCluster& figures, Random& random, Symbols& symbols)
      : small_(figures.small), large_(figures.large), partition_(symbols.intern(figures.name)) {
    const auto sizes = parse_sizes(figures.sizes, "sizes");
    make_users(figures.users, random, symbols);
    deal_out_sizes(*sizes);
    deal_out_levels(random);
    balance(figures);
    for (User& user : users_) {
      for (Habit& habit : user.habits) {
        habit.model = symbols.intern(workload_for(length(habit, habit.level), random));
      }
    }
    std::vector<double> weights;
    for (const User& user : users_) {
      double weight = 0;
      for (const Habit& habit : user.habits) weight += habit.weight;
      weights.push_back(weight);
    }
    user_ = std::make_unique<WeightedChoice>(weights);
  }

  Symbol partition() const { return partition_; }
  std::size_t draw_user(Random& random) const { return user_->draw(random); }
  const User& user(std::size_t i) const { return users_[i]; }
  double length(const Habit& habit, double level) const {
    const Lengths& lengths = habit.gpus < 8 ? small_ : large_;
    return std::max(1.0, std::round(lengths.at(std::clamp(normal_below(level), 0.0, 1.0))));
  }

 private:
  // Stretches the longest tenth of the jobs so that all together ask for the published GPU time.
  void balance(const VenusCluster& figures) {
    constexpr int kSteps = 200;
    const double spread = std::hypot(kSessionPart, kChancePart);
    std::vector<double> steps;
    steps.reserve(kSteps);
    for (int i = 0; i < kSteps; ++i) steps.push_back(normal_at((i + 0.5) / kSteps));
    double body = 0;
    double beyond = 0;
    for (const Habit* habit : habits()) {
      const Lengths& lengths = habit->gpus < 8 ? small_ : large_;
      for (const double z : steps) {
        const double length = lengths.at(normal_below(kHabitPart * habit->level + spread * z));
        const double weight = habit->weight * habit->gpus / kSteps;
        body += weight * std::min(length, lengths.tail());
        beyond += weight * std::max(0.0, length - lengths.tail());
      }
    }
    const double wanted = figures.load * figures.nodes * 8 * kDays * 86400 / figures.jobs;
    const double factor = std::clamp((wanted - body) / beyond, 0.05, 20.0);
    small_.stretch(factor);
    large_.stretch(factor);
  }
  void make_users(int count, Random& random, Symbols& symbols) {
    double all = 0;
    for (int k = 1; k <= count; ++k) all += std::pow(k, -kUserSkew);
    for (int k = 1; k <= count; ++k) {
      User& user = users_.emplace_back();
      user.name = symbols.intern(fmt::format("{}-u{:02}", symbols.text(partition_), k));
      double sum = 0;
      for (int h = 0; h < kHabits; ++h) {
        user.habits.emplace_back().weight = random.exponential(1);
        sum += user.habits.back().weight;
      }
      for (Habit& habit : user.habits) habit.weight *= std::pow(k, -kUserSkew) / all / sum;
    }
  }
  std::vector<Habit*> habits() {
    std::vector<Habit*> all;
    for (User& user : users_) {
      for (Habit& habit : user.habits) all.push_back(&habit);
    }
    return all;
  }
  // The weightiest habits first, each the size of which most is still missing.
  void deal_out_sizes(const std::vector<JobClass>& sizes) {
    std::vector<double> missing;
    double all = 0;
    for (const JobClass& size : sizes) all += size.weight;
    missing.reserve(sizes.size());
    for (const JobClass& size : sizes) missing.push_back(size.weight / all);
    std::vector<Habit*> order = habits();
    std::stable_sort(order.begin(), order.end(),
                     [](const Habit* a, const Habit* b) { return a->weight > b->weight; });
    for (Habit* habit : order) {
      const auto most = static_cast<std::size_t>(std::max_element(missing.begin(), missing.end()) -
                                                 missing.begin());
      habit->gpus = sizes[most].gpus;
      missing[most] -= habit->weight;
    }
  }
  // Levels that, weighted, are spread as the normal distribution is: among small and among large
  // jobs.
  void deal_out_levels(Random& random) {
    for (const bool large : {false, true}) {
      std::vector<Habit*> group;
      double all = 0;
      for (Habit* habit : habits()) {
        if ((habit->gpus >= 8) != large) continue;
        group.push_back(habit);
        all += habit->weight;
      }
      random.shuffle(group);
      double below = 0;
      for (Habit* habit : group) {
        habit->level = normal_at((below + habit->weight / 2) / all);
        below += habit->weight;
      }
    }
  }

  Lengths small_;
  Lengths large_;
  Symbol partition_;
  std::vector<User> users_;
  std::unique_ptr<WeightedChoice> user_;
};

// The mean number of jobs of a session.
double mean_session() {
  constexpr int kSteps = 2000;
  double sum = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double z = normal_at((i + 0.5) / kSteps);
    sum += std::min<double>(kLongestSession, std::ceil(std::exp(kSessionMu + kSessionSigma * z)));
  }
  return sum / kSteps;
}

class VenusLike final : public JobSource {
 public:
  VenusLike(std::uint64_t seed, double load, Symbols& symbols) : random_(seed, "venus-like") {
    Random people(seed, "venus-like people");
    const double session = mean_session();
    for (const VenusCluster& figures : venus_clusters()) {
      venues_.emplace_back(figures, people, symbols);
      rates_.push_back(load * figures.jobs / (kDays * 86400) / session);
    }
    for (double& weight : hours_) {
      const auto hour = static_cast<std::size_t>(&weight - hours_.data());
      weight = kVenusHours[hour % 24] * kVenusDays[hour / 24];
      busiest_ = std::max(busiest_, weight);
    }
    for (std::size_t v = 0; v < venues_.size(); ++v) next_session(v, 0);
  }

  const JobSpec* peek() override {
    while (!ready_) step();
    return &job_;
  }
  void pop() override {
    peek();
    ready_ = false;
  }
  bool finished() override { return false; }

 private:
  struct Session {
    std::size_t venue = 0;
    std::size_t user = 0;
    std::size_t habit = 0;
    double level = 0;
    int jobs = 0;  // still to come
  };
  struct Event {
    Seconds time;
    std::uint64_t order;
    bool begins;  // a session begins at venue `at`; else session `at` has a job
    std::size_t at;
    friend bool operator>(const Event& a, const Event& b) {
      return a.time != b.time ? a.time > b.time : a.order > b.order;
    }
  };

  void push(Seconds time, bool begins, std::size_t at) {
    events_.push({time, order_++, begins, at});
  }
  // Sessions come at random, at a rate that follows the week: most are drawn and some dropped.
  void next_session(std::size_t venue, Seconds now) {
    do {
      now += random_.exponential(1 / (rates_[venue] * busiest_));
    } while (
        !random_.chance(hours_[static_cast<std::size_t>(std::fmod(now / 3600, 168.0))] / busiest_));
    push(now, true, venue);
  }
  std::size_t draw_habit(const User& user) {
    double sum = 0;
    for (const Habit& habit : user.habits) sum += habit.weight;
    double left = random_.unit() * sum;
    for (std::size_t h = 0; h + 1 < user.habits.size(); ++h) {
      left -= user.habits[h].weight;
      if (left < 0) return h;
    }
    return user.habits.size() - 1;
  }
  void step() {
    const Event event = events_.top();
    events_.pop();
    if (event.begins) {
      begin_session(event);
    } else {
      emit_job(event);
    }
  }
  void begin_session(const Event& event) {
    const Venue& venue = venues_[event.at];
    Session session;
    session.venue = event.at;
    session.user = venue.draw_user(random_);
    session.habit = draw_habit(venue.user(session.user));
    session.level = random_.normal(0, 1);
    session.jobs = static_cast<int>(std::min<double>(
        kLongestSession, std::ceil(random_.log_normal(kSessionMu, kSessionSigma))));
    std::size_t at = sessions_.size();
    if (free_.empty()) {
      sessions_.push_back(session);
    } else {
      at = free_.back();
      free_.pop_back();
      sessions_[at] = session;
    }
    push(event.time, false, at);
    next_session(event.at, event.time);
  }
  void emit_job(const Event& event) {
    Session& session = sessions_[event.at];
    const Venue& venue = venues_[session.venue];
    const User& user = venue.user(session.user);
    if (!random_.chance(kStays)) session.habit = draw_habit(user);
    const Habit& habit = user.habits[session.habit];
    job_ = {};
    job_.submit = std::floor(event.time);
    job_.arrival = job_.submit;
    job_.gpus = habit.gpus;
    job_.cpus = habit.gpus;
    job_.duration = venue.length(habit, kHabitPart * habit.level + kSessionPart * session.level +
                                            kChancePart * random_.normal(0, 1));
    job_.user = user.name;
    job_.partition = venue.partition();
    job_.model = habit.model;
    ready_ = true;
    if (--session.jobs == 0) {
      free_.push_back(event.at);
      return;
    }
    const double gap = random_.chance(kTogether)
                           ? 0
                           : std::min(kLongestGap, random_.log_normal(kGapMu, kGapSigma));
    push(event.time + gap, false, event.at);
  }

  Random random_;
  std::vector<Venue> venues_;
  std::vector<double> rates_;  // sessions per second
  std::array<double, 168> hours_{};
  double busiest_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t order_ = 0;
  std::vector<Session> sessions_;
  std::vector<std::size_t> free_;
  JobSpec job_;
  bool ready_ = false;
};

}  // namespace

ParamList venus_like_params() {
  return {
      {"jobs", ParamKind::kInteger, "23859", "number of jobs; 0: endless", 0, 4e9},
      {"seed", ParamKind::kInteger, "1", "seed; the same seed gives the same jobs", 0,
       9007199254740992.0},
      {"load", ParamKind::kReal, "1", "arrival rate of sessions, relative to the published one",
       1e-3, 1e3},
  };
}

Result<Generated> make_venus_like(const Params& params, Symbols& symbols) {
  auto source = std::make_unique<VenusLike>(static_cast<std::uint64_t>(params.integer("seed")),
                                            params.real("load"), symbols);
  return Generated{
      first_jobs(std::move(source), static_cast<std::uint64_t>(params.integer("jobs"))), {}};
}

}  // namespace muster
