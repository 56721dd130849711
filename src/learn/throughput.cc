#include "learn/throughput.h"

#include <algorithm>
#include <cmath>

#include "learn/calendar.h"

namespace muster {
namespace {

struct Lag {
  const char* name;
  std::size_t slots;
};
// In slots of ten minutes: short-term momentum, and the same hour of the day before.
constexpr Lag kLags[] = {{"1h", 6}, {"3h", 18}, {"1d", 144}};
constexpr std::size_t kWindow = 6;  // slots of the rolling hour, which ends as many before

// Lagged and rolling features of one series, as autoregressive models use them: values some slots
// ago (shift), the same smoothed over three slots with weights 1/4, 1/2, 1/4 (soft), and mean,
// median and sample deviation of a rolling hour (roll). All look back at least an hour, which is
// how far ahead the forecast is made.
void add_series(Examples& table, const std::string& suffix, const std::vector<double>& x) {
  const auto at = [&x](std::size_t i, std::size_t back, std::size_t ahead) {
    const std::size_t j = i + ahead;
    return j < back || j - back >= x.size() ? 0.0 : x[j - back];
  };
  for (const Lag& lag : kLags) {
    std::vector<double> plain;
    std::vector<double> soft;
    for (std::size_t i = 0; i < x.size(); ++i) {
      plain.push_back(at(i, lag.slots, 0));
      // As in the original, a smoothed value whose neighbour is missing is missing as a whole.
      const bool whole = i >= lag.slots + 1;
      soft.push_back(whole ? 0.5 * at(i, lag.slots, 0) +
                                 0.25 * (at(i, lag.slots + 1, 0) + at(i, lag.slots, 1))
                           : 0);
    }
    table.add_numbers(std::string("shift_") + lag.name + "_" + suffix, std::move(plain));
    table.add_numbers(std::string("soft_") + lag.name + "_" + suffix, std::move(soft));
  }
  std::vector<double> mean(x.size(), 0);
  std::vector<double> median(x.size(), 0);
  std::vector<double> deviation(x.size(), 0);
  for (std::size_t i = 2 * kWindow - 1; i < x.size(); ++i) {
    const auto last = x.begin() + static_cast<std::ptrdiff_t>(i - kWindow + 1);
    std::vector<double> hour(last - static_cast<std::ptrdiff_t>(kWindow), last);
    // Sorting six values for the median is cheaper than any running structure.
    std::sort(hour.begin(), hour.end());
    double sum = 0;
    for (const double value : hour) sum += value;
    mean[i] = sum / kWindow;
    median[i] = (hour[kWindow / 2 - 1] + hour[kWindow / 2]) / 2;
    double square = 0;
    for (const double value : hour) square += (value - mean[i]) * (value - mean[i]);
    // Bessel's correction, as pandas' rolling std() has it.
    deviation[i] = std::sqrt(square / (kWindow - 1));
  }
  table.add_numbers("roll_mean_1h_" + suffix, std::move(mean));
  table.add_numbers("roll_median_1h_" + suffix, std::move(median));
  table.add_numbers("roll_std_1h_" + suffix, std::move(deviation));
}

}  // namespace

// Asked of an empty table, so that names and features cannot differ.
std::vector<std::string> throughput_feature_names() {
  std::vector<std::string> names;
  const Examples table = throughput_features({});
  for (const ExampleColumn& column : table.columns) names.push_back(column.name);
  return names;
}

// Calendar fields let the model find what repeats by the hour and the week; the series say how
// today differs from that. O(slots).
Examples throughput_features(std::span<const ThroughputSlot> slots) {
  Examples table;
  std::vector<double> parts[7];
  std::vector<double> jobs;
  std::vector<double> gpus;
  for (const ThroughputSlot& slot : slots) {
    const CalendarTime time = calendar_time(slot.time);
    const int values[] = {time.month,       time.day,         time.hour, time.minute,
                          time.day_of_week, time.day_of_year, time.week};
    for (std::size_t i = 0; i < 7; ++i) parts[i].push_back(values[i]);
    jobs.push_back(slot.jobs);
    gpus.push_back(slot.gpus);
  }
  const char* names[] = {"month", "day", "hour", "minute", "dayofweek", "dayofyear", "week"};
  for (std::size_t i = 0; i < 7; ++i) table.add_numbers(names[i], std::move(parts[i]));
  add_series(table, "njob", jobs);
  add_series(table, "ngpu", gpus);
  table.rows = slots.size();
  return table;
}

EbmOptions throughput_options() {
  EbmOptions options;
  options.learning_rate = 0.1;
  options.pairs = 10;
  // Chosen on June, July and August, each forecast from the months before it; September, which the
  // published error is about, had no part in that (docs/learn.md).
  options.max_bins = 32;
  options.seed = 123;
  return options;
}

// Two independent regressions on the same features, one for jobs and one for GPUs.
Result<ThroughputModel> train_throughput(std::span<const ThroughputSlot> slots,
                                         const EbmOptions& options) {
  const Examples table = throughput_features(slots);
  const auto features = FeatureSet::of(table, throughput_feature_names(), "throughput");
  if (!features) return features.error();
  const auto columns = features->encode(table, "throughput");
  if (!columns) return columns.error();
  std::vector<double> jobs;
  std::vector<double> gpus;
  for (const ThroughputSlot& slot : slots) {
    jobs.push_back(slot.jobs);
    gpus.push_back(slot.gpus);
  }
  // One after the other: each training takes all threads by itself.
  auto first = train_ebm(*features, *columns, jobs, options);
  if (!first) return first.error();
  auto second = train_ebm(*features, *columns, gpus, options);
  if (!second) return second.error();
  first->target = "jobs";
  second->target = "gpus";
  return ThroughputModel{std::move(*first), std::move(*second)};
}

// One-hour-ahead forecasts: each slot's features look back at least that far.
Result<Forecast> forecast_of(const ThroughputModel& model, std::span<const ThroughputSlot> slots,
                             Seconds begin, Seconds slot_length) {
  const Examples table = throughput_features(slots);
  const auto columns = model.jobs.features.encode(table, "throughput");
  if (!columns) return columns.error();
  std::vector<Forecast::Slot> forecast;
  std::vector<double> row(columns->size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    for (std::size_t f = 0; f < row.size(); ++f) row[f] = (*columns)[f][i];
    forecast.push_back({model.jobs.predict(row), model.gpus.predict(row)});
  }
  return Forecast(begin, slot_length, std::move(forecast));
}

// A histogram over time with slots that begin at whole multiples of their length; O(jobs + slots).
std::vector<ThroughputSlot> count_submissions(std::span<const std::int64_t> submit,
                                              std::span<const int> gpus, std::int64_t slot_length) {
  std::vector<ThroughputSlot> slots;
  if (submit.empty()) return slots;
  const std::int64_t first = submit.front() - submit.front() % slot_length;
  const auto count = static_cast<std::size_t>((submit.back() - first) / slot_length + 1);
  slots.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    slots[i].time = first + static_cast<std::int64_t>(i) * slot_length;
  }
  for (std::size_t i = 0; i < submit.size(); ++i) {
    ThroughputSlot& slot = slots[static_cast<std::size_t>((submit[i] - first) / slot_length)];
    slot.jobs += 1;
    slot.gpus += gpus[i];
  }
  return slots;
}

}  // namespace muster
