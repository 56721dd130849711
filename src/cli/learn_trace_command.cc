// `muster learn table | estimate | forecast`: from traces to what Lucid and QSSF need: a table to
// learn from, estimates by job id, and the forecast of load.
#include <cmath>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/csv.h"
#include "base/out_file.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "learn/estimate.h"
#include "learn/history_estimate.h"
#include "learn/model_file.h"
#include "learn/throughput.h"
#include "workload/perf/colocation_files.h"
#include "workload/timestamp.h"
#include "workload/trace_reader.h"

namespace muster {
namespace {

struct TraceLearnOptions {
  std::string history;
  std::string jobs;
  std::string profiles;
  std::string epoch = "1970-01-01";
  std::string kind = "ebm";
  std::string model;
  std::string output;
  long long slot = 600;
  double days = 7;
};

// Traces with one set of names, and what is known of their workloads.
struct Material {
  Symbols symbols;
  std::vector<JobSpec> history;
  std::vector<JobSpec> jobs;
  std::unique_ptr<PerfModel> perf;  // null: no profiles
  std::int64_t epoch = 0;
};

Result<std::vector<JobSpec>> load_one(const std::string& path, Symbols& symbols) {
  TraceOptions options;
  options.rebase = Rebase::kNo;
  auto trace = load_trace(path, options, symbols);
  if (!trace) return trace.error();
  for (const std::string& text : notes_of(trace->stats)) note(text);
  return std::move(trace->jobs);
}

Status load_material(const TraceLearnOptions& options, Material& material) {
  Seconds epoch = 0;
  if (!read_timestamp(options.epoch + " 00:00:00", epoch)) {
    return Error{fmt::format("--epoch {}: expected a day, as in 2020-09-01", options.epoch)};
  }
  material.epoch = static_cast<std::int64_t>(epoch);
  auto history = load_one(options.history, material.symbols);
  if (!history) return history.error();
  material.history = std::move(*history);
  if (!options.jobs.empty()) {
    auto jobs = load_one(options.jobs, material.symbols);
    if (!jobs) return jobs.error();
    material.jobs = std::move(*jobs);
    const bool after = material.history.empty() || material.jobs.empty() ||
                       material.history.back().submit <= material.jobs.front().submit;
    if (!after) {
      return Error{
          fmt::format("{} begins before {} ends; a model must not learn from jobs that come later",
                      options.jobs, options.history)};
    }
  }
  if (options.profiles.empty()) return Done{};
  ColocationFiles tables;
  tables.profiles = options.profiles;
  auto perf = load_colocation(tables, {}, material.symbols);
  if (!perf) return perf.error();
  material.perf = std::move(*perf);
  return Done{};
}

EstimateOptions estimate_options(const TraceLearnOptions& options, const Material& material) {
  EstimateOptions made;
  made.with_profile = material.perf != nullptr;
  made.epoch = material.epoch;
  made.retrain_every = options.days * 86400;
  return made;
}

int table(const TraceLearnOptions& options) {
  Material material;
  if (Status loaded = load_material(options, material); !loaded) return complain(loaded.error());
  const EstimateOptions settings = estimate_options(options, material);
  const Examples examples =
      estimate_examples(material.history, material.symbols, material.perf.get(), settings);
  std::vector<std::string> names = estimate_feature_names(settings.with_profile);
  names.emplace_back("duration");
  std::string text = "job_id";
  for (const std::string& name : names) text += "," + name;
  text += "\n";
  for (std::size_t row = 0; row < examples.rows; ++row) {
    JobSpec job = material.history[row];
    job.id = JobId{static_cast<std::uint32_t>(row)};
    append_field(text, display_name(job));
    for (const std::string& name : names) {
      const ExampleColumn* column = examples.find(name);
      text += ',';
      if (column->is_text) {
        append_field(text, column->texts[row]);
      } else if (!std::isnan(column->numbers[row])) {
        text += fmt::format("{}", column->numbers[row]);
      }
    }
    text += '\n';
  }
  if (Status written = replace_file(options.output, text); !written) {
    return complain(written.error(), kExitFailed);
  }
  fmt::print("{} rows written to {}\n", examples.rows, options.output);
  return kExitOk;
}

int estimate(const TraceLearnOptions& options) {
  Material material;
  if (Status loaded = load_material(options, material); !loaded) return complain(loaded.error());
  EstimateOptions settings = estimate_options(options, material);
  Result<std::vector<double>> estimates = std::vector<double>{};
  if (options.kind == "helios") {
    HistoryOptions helios;
    helios.epoch = material.epoch;
    helios.retrain_every = settings.retrain_every;
    estimates = history_estimates(material.history, material.jobs, material.symbols, helios);
  } else {
    settings.ebm.keep_going = stops_at_interrupt();
    estimates = weekly_estimates(material.history, material.jobs, material.symbols,
                                 material.perf.get(), settings);
  }
  if (interrupted()) return kExitInterrupted;
  if (!estimates) {
    return complain(Error{fmt::format("{}: {}", options.history, estimates.error().message)});
  }
  std::string text = "job_id,estimate\n";
  double error = 0;
  for (std::size_t i = 0; i < estimates->size(); ++i) {
    JobSpec job = material.jobs[i];
    job.id = JobId{static_cast<std::uint32_t>(i)};
    append_field(text, display_name(job));
    text += fmt::format(",{:.1f}\n", (*estimates)[i]);
    error += std::abs((*estimates)[i] - job.duration) / static_cast<double>(estimates->size());
  }
  if (Status written = replace_file(options.output, text); !written) {
    return complain(written.error(), kExitFailed);
  }
  fmt::print("{} estimates written to {}; mean absolute error {:.0f} s\n", estimates->size(),
             options.output, error);
  if (options.model.empty()) return kExitOk;
  if (options.kind == "helios") {
    return complain(Error{"--model needs a model that can be explained: use --kind ebm"});
  }
  const auto model =
      train_estimate(material.history, material.symbols, material.perf.get(), settings);
  if (interrupted()) return kExitInterrupted;
  if (!model) return complain(model.error());
  if (Status written = replace_file(options.model, to_text(*model)); !written) {
    return complain(written.error(), kExitFailed);
  }
  fmt::print("model of the history written to {}\n", options.model);
  return kExitOk;
}

int forecast(const TraceLearnOptions& options) {
  Material material;
  if (Status loaded = load_material(options, material); !loaded) return complain(loaded.error());
  std::vector<std::int64_t> submit;
  std::vector<int> gpus;
  for (const std::vector<JobSpec>* list : {&material.history, &material.jobs}) {
    for (const JobSpec& job : *list) {
      submit.push_back(material.epoch + static_cast<std::int64_t>(job.submit));
      gpus.push_back(job.gpus);
    }
  }
  if (material.jobs.empty()) return complain(Error{options.jobs + ": no jobs to forecast for"});
  const std::vector<ThroughputSlot> slots = count_submissions(submit, gpus, options.slot);
  const std::int64_t begin = material.epoch + static_cast<std::int64_t>(material.jobs[0].submit);
  std::size_t known = 0;
  while (known < slots.size() && slots[known].time + options.slot <= begin) ++known;
  EbmOptions settings = throughput_options();
  settings.keep_going = stops_at_interrupt();
  const auto model = train_throughput(std::span(slots).first(known), settings);
  if (interrupted()) return kExitInterrupted;
  if (!model) {
    return complain(Error{fmt::format("{}: slots of {} s: {}", options.history, options.slot,
                                      model.error().message)});
  }
  const auto made = forecast_of(*model, slots, 0, static_cast<Seconds>(options.slot));
  if (!made) return complain(made.error());
  std::string text = "second,submitted_jobs,submitted_gpus,jobs,gpus\n";
  double error = 0;
  for (std::size_t i = known; i < slots.size(); ++i) {
    text += fmt::format("{},{},{},{:.1f},{:.1f}\n", slots[i].time - material.epoch, slots[i].jobs,
                        slots[i].gpus, (*made)[i].jobs, (*made)[i].gpus);
    error += std::abs((*made)[i].jobs - slots[i].jobs) / static_cast<double>(slots.size() - known);
  }
  if (Status written = replace_file(options.output, text); !written) {
    return complain(written.error(), kExitFailed);
  }
  fmt::print(
      "{} slots written to {}; mean absolute error {:.2f} jobs\n"
      "use it with --set forecast.file={} --set forecast.begin={} --set forecast.slot={}\n",
      slots.size() - known, options.output, error, options.output,
      slots[known].time - material.epoch, options.slot);
  if (options.model.empty()) return kExitOk;
  if (Status written = replace_file(options.model, to_text(model->jobs)); !written) {
    return complain(written.error(), kExitFailed);
  }
  fmt::print("model of the number of jobs written to {}\n", options.model);
  return kExitOk;
}

void add_common(CLI::App& command, TraceLearnOptions& options) {
  command.add_option("--epoch", options.epoch, "day of second 0, for traces that count seconds")
      ->type_name("DAY")
      ->capture_default_str();
  command.add_option("-o,--output", options.output, "file for the CSV output")->required();
}

void add_profiles(CLI::App& command, TraceLearnOptions& options) {
  command
      .add_option("--profiles", options.profiles,
                  "CSV file of profiles of workloads run alone (docs/lucid.md)")
      ->type_name("FILE");
}

}  // namespace

void add_learn_trace_commands(CLI::App& learn, Chosen& chosen) {
  const auto options = std::make_shared<TraceLearnOptions>();
  CLI::App* tabling =
      learn.add_subcommand("table", "Turn a trace into a table of examples for learning durations");
  tabling->add_option("TRACE", options->history, "a trace in any format")->required();
  add_profiles(*tabling, *options);
  add_common(*tabling, *options);
  tabling->footer(
      "Examples:\n"
      "  muster learn table august.csv -o table.csv\n"
      "  muster learn train table.csv --target duration --drop job_id -o duration.json");
  tabling->callback([options, &chosen] { chosen.run = [options] { return table(*options); }; });

  CLI::App* estimating = learn.add_subcommand(
      "estimate", "Estimate the durations of a trace from earlier jobs, retrained every week");
  estimating->add_option("HISTORY", options->history, "a trace that ends before JOBS begins")
      ->required();
  estimating->add_option("JOBS", options->jobs, "the trace to estimate")->required();
  add_profiles(*estimating, *options);
  estimating
      ->add_option("--kind", options->kind,
                   "ebm: Lucid's model; helios: history and boosted trees, as in QSSF")
      ->check(CLI::IsMember({"ebm", "helios"}))
      ->capture_default_str();
  estimating
      ->add_option("--retrain-days", options->days, "days after which the model is trained again")
      ->check(CLI::Range(0.01, 1e6))
      ->capture_default_str();
  estimating->add_option("--model", options->model,
                         "ebm: also write the model of the history to this file");
  add_common(*estimating, *options);
  estimating->footer(
      "Examples:\n"
      "  muster learn estimate august.csv september.csv -o estimates.csv --model duration.json\n"
      "  muster simulate september.csv --preset helios -c venus.toml --estimates estimates.csv");
  estimating->callback(
      [options, &chosen] { chosen.run = [options] { return estimate(*options); }; });

  CLI::App* forecasting = learn.add_subcommand(
      "forecast", "Forecast jobs and GPUs submitted per slot from earlier jobs");
  forecasting->add_option("HISTORY", options->history, "a trace that ends before JOBS begins")
      ->required();
  forecasting->add_option("JOBS", options->jobs, "the trace to forecast")->required();
  forecasting->add_option("--slot", options->slot, "seconds of a slot")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  forecasting->add_option("--model", options->model,
                          "also write the model of the number of jobs to this file");
  add_common(*forecasting, *options);
  forecasting->footer(
      "Examples:\n"
      "  muster learn forecast august.csv september.csv -o forecast.csv");
  forecasting->callback(
      [options, &chosen] { chosen.run = [options] { return forecast(*options); }; });
}

}  // namespace muster
