#include "workload/generate/blox_sources.h"

#include <array>
#include <cassert>
#include <cmath>
#include <optional>

#include "base/random_python.h"

namespace muster {
namespace {

constexpr Seconds kBurstEvery = 14400;     // extra jobs start at multiples of four hours
constexpr Seconds kWindowEndsAt = 21600;   // and dual load's windows end at multiples of six
constexpr Seconds kSecondClockStep = 300;  // fixed in Blox, whatever the round length
constexpr std::int64_t kModelClasses = 9;
constexpr int kExtraLoad = 4;

// Blox's split into model classes is never updated, so every job is one of its image models, in
// turn.
constexpr std::array<std::string_view, 5> kImageModels = {"alexnet", "res18", "res50", "mobilenet",
                                                          "shufflenet"};

std::int64_t long_duration(PythonRandom& random) { return random.randint(36000, 86400); }
std::int64_t short_duration(PythonRandom& random) { return random.randint(600, 3600); }

bool multiple_of(Seconds time, Seconds period) { return std::fmod(time, period) == 0; }

// The first part of the stream: two draws for each job of the list, unless durations are those of
// the log.
void draw_durations(BloxOptions& options, PythonRandom& random) {
  if (options.durations == BloxDurations::kFromLog) return;
  const bool brief = options.durations == BloxDurations::kDrawnShort;
  for (BloxLogJob& job : options.list) {
    const bool large = random.random() >= 0.8;
    const double low = large ? (brief ? 2.5 : 3) : 1.5;
    const double high = large ? (brief ? 2.7 : 4) : (brief ? 2.5 : 3);
    job.duration = 60 * std::pow(10, random.uniform(low, high));
  }
}

// What Blox calls a workload: the list, a rate, and the next job.
class Stream {
 public:
  Stream(const std::vector<BloxLogJob>& list, double jobs_per_hour, Symbols& symbols)
      : list_(list), jobs_per_hour_(jobs_per_hour) {
    for (std::size_t i = 0; i < models_.size(); ++i) models_[i] = symbols.intern(kImageModels[i]);
  }

  JobSpec draw(Seconds previous, PythonRandom& random) {
    const BloxLogJob& entry = list_[taken_ % list_.size()];
    const double hours = -std::log(1.0 - random.random()) / jobs_per_hour_;
    random.randint(0, kModelClasses - 1);  // drawn there and thrown away
    JobSpec job;
    job.submit = previous + std::ceil(hours * 60 * 60);
    job.gpus = entry.gpus;
    job.model = models_[drawn_ % models_.size()];
    set_duration(job, entry.duration);
    ++taken_;
    ++drawn_;
    return job;
  }
  // Burst jobs are copies, but take numbers of the list.
  void skip_entry() { ++taken_; }

  static void set_duration(JobSpec& job, Seconds duration) {
    job.duration = duration;
    job.iterations = duration;  // an iteration of Blox lasts one second
  }

 private:
  const std::vector<BloxLogJob>& list_;
  double jobs_per_hour_;
  std::array<Symbol, kImageModels.size()> models_{};
  std::size_t taken_ = 0;
  std::size_t drawn_ = 0;
};

// The part common to all: at most one job is held, namely the first that is still to come.
class BloxSource : public JobSource {
 public:
  BloxSource(BloxOptions options, Symbols& symbols)
      : options_(prepared(std::move(options))),
        random_(options_.seed),
        stream_(options_.list, options_.jobs_per_hour, symbols) {
    if (!options_.cached) draw_durations(options_, random_);
  }

  const JobSpec* peek() final {
    while (next_ == turn_.size()) {
      turn_.clear();
      next_ = 0;
      fill(static_cast<Seconds>(turns_) * options_.round);
      ++turns_;
    }
    return &turn_[next_];
  }
  void pop() final { ++next_; }
  bool finished() final { return false; }

 protected:
  virtual JobSpec draw() { return stream_.draw(previous_, random_); }
  // Called once per turn, while a job is held; may add jobs or replace the held one.
  virtual void add_extra(Seconds /*now*/) {}

  void deliver(JobSpec job, Seconds now) {
    job.arrival = now;
    turn_.push_back(std::move(job));
  }

  BloxOptions& options() { return options_; }
  PythonRandom& random() { return random_; }
  Stream& stream() { return stream_; }
  JobSpec& held() { return *held_; }

 private:
  static BloxOptions prepared(BloxOptions options) {
    assert(!options.list.empty() && options.jobs_per_hour > 0 && options.round > 0);
    if (options.cached) {
      PythonRandom random(options.seed);
      draw_durations(options, random);
    }
    return options;
  }

  void fill(Seconds now) {
    while (true) {
      if (!held_) held_ = draw();
      if (held_->submit > now) break;
      previous_ = held_->submit;
      deliver(std::move(*held_), now);
      held_.reset();
    }
    add_extra(now);
    previous_ = held_->submit;
  }

  BloxOptions options_;
  PythonRandom random_;
  Stream stream_;
  Seconds previous_ = 0;
  std::optional<JobSpec> held_;
  std::vector<JobSpec> turn_;  // what this turn hands out
  std::size_t next_ = 0;
  std::size_t turns_ = 0;
};

class LongJobsSource : public BloxSource {
 public:
  using BloxSource::BloxSource;

 protected:
  JobSpec draw() override {
    JobSpec job = BloxSource::draw();
    Stream::set_duration(job, static_cast<Seconds>(long_duration(random())));
    return job;
  }
};

class SmallLargeSource final : public LongJobsSource {
 public:
  using LongJobsSource::LongJobsSource;

 private:
  void add_extra(Seconds now) override {
    if (!multiple_of(now, kBurstEvery)) return;
    const int count = static_cast<int>(kExtraLoad * options().jobs_per_hour);
    for (int i = 0; i < count; ++i) {
      JobSpec job = held();  // submitted when the held job will be
      Stream::set_duration(job, static_cast<Seconds>(short_duration(random())));
      stream().skip_entry();
      deliver(std::move(job), now);
    }
  }
};

class DualLoadSource final : public LongJobsSource {
 public:
  // The second workload is made after the first, from the cached list and with the seed set anew:
  // fresh or cached, the arrivals start at the first draw.
  DualLoadSource(BloxOptions options, Symbols& symbols)
      : LongJobsSource(cached(std::move(options)), symbols),
        second_(this->options().list, kExtraLoad * this->options().jobs_per_hour, symbols) {}

 private:
  static BloxOptions cached(BloxOptions options) {
    options.cached = true;
    return options;
  }

  void add_extra(Seconds now) override {
    if (multiple_of(now, kBurstEvery)) {
      open_ = true;
      replace_held();
    }
    if (open_) replace_held();
    if (multiple_of(now, kWindowEndsAt)) open_ = false;
  }

  // A job of the second stream arrives after that stream's clock, so Blox never hands it out at
  // once: it takes the place of the held job.
  void replace_held() {
    clock_ += kSecondClockStep;
    held() = second_.draw(clock_, random());
    Stream::set_duration(held(), static_cast<Seconds>(short_duration(random())));
  }

  Stream second_;
  Seconds clock_ = 0;
  bool open_ = false;
};

}  // namespace

std::vector<BloxLogJob> blox_plain_list(std::size_t count) {
  return std::vector<BloxLogJob>(count);
}

std::unique_ptr<JobSource> make_blox_simple(BloxOptions options, Symbols& symbols) {
  return std::make_unique<BloxSource>(std::move(options), symbols);
}
std::unique_ptr<JobSource> make_blox_dual_load(BloxOptions options, Symbols& symbols) {
  return std::make_unique<DualLoadSource>(std::move(options), symbols);
}
std::unique_ptr<JobSource> make_blox_small_large(BloxOptions options, Symbols& symbols) {
  return std::make_unique<SmallLargeSource>(std::move(options), symbols);
}

}  // namespace muster
