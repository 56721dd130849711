// Gavel's traces: tab separated, no header, ten columns (or the seven of its older Philly-derived
// files, or twelve with Shockwave's additions). They count training steps, not seconds: the run
// time follows from a table of throughputs.
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "workload/formats/formats.h"
#include "workload/numbers.h"
#include "workload/perf/throughput_json.h"

namespace muster {
namespace {

// Positions of the fields of interest, from 0; -1: the layout has no such field.
struct Layout {
  std::size_t columns;
  int steps;
  int gpus;
  int priority;
  int deadline_factor;
  int arrival;
};
constexpr Layout kLayouts[] = {
    {10, 5, 6, 7, 8, 9},
    {12, 5, 6, 7, 8, 9},
    {7, 4, 6, -1, -1, 5},
};

const Layout* layout_of(std::size_t columns) {
  for (const Layout& layout : kLayouts) {
    if (layout.columns == columns) return &layout;
  }
  return nullptr;
}

// 64 from "ResNet-50 (batch size 64)"; 0 if the text has none.
int batch_size_of(std::string_view job_type) {
  constexpr std::string_view kMark = "(batch size ";
  const std::size_t begin = job_type.find(kMark);
  if (begin == std::string_view::npos) return 0;
  const std::string_view rest = job_type.substr(begin + kMark.size());
  int size = 0;
  return read_whole_number(rest.substr(0, rest.find(')')), size) && size > 0 ? size : 0;
}

class GavelParser final : public TraceParser {
 public:
  // `reference` is a type of the table.
  GavelParser(std::optional<ThroughputTable> throughputs, int reference, double step_seconds,
              Symbols& symbols)
      : throughputs_(std::move(throughputs)),
        reference_(reference),
        step_seconds_(step_seconds),
        symbols_(symbols) {
    if (!throughputs_) {
      notes_.push_back(fmt::format(
          "Gavel traces count steps, not seconds: run times assume {} s a step; give the setting "
          "throughputs=FILE (simulation_throughputs.json) for real ones",
          exact_text(step_seconds)));
    }
  }

  Parsed parse(std::string_view record, JobSpec& job) override {
    const std::vector<std::string_view> cells = split(record, '\t');
    const Layout* layout = layout_of(cells.size());
    if (layout == nullptr) {
      return bad(0, "", fmt::format("{} columns", cells.size()),
                 "10 columns separated by tabs (or 7, or 12)");
    }
    const std::string_view job_type = trim(cells[0]);
    if (job_type.empty()) return missing(1, "job type", "a name like ResNet-50 (batch size 64)");
    job.model = symbols_.intern(job_type);
    job.batch_size = batch_size_of(job_type);

    double priority = 1;
    double factor = -1;
    double gpus = 0;
    if (!number(cells, layout->steps, "total steps", job.iterations) ||
        !number(cells, layout->gpus, "scale factor", gpus) ||
        !number(cells, layout->priority, "priority weight", priority) ||
        !number(cells, layout->deadline_factor, "SLO factor", factor) ||
        !number(cells, layout->arrival, "arrival time", job.submit)) {
      return Parsed::kBad;
    }
    if (!read_whole_number(trim(cells[static_cast<std::size_t>(layout->gpus)]), job.gpus)) {
      return bad(layout->gpus + 1, "scale factor", exact_text(gpus), "a whole number of GPUs");
    }
    constexpr double kLargestPriority = 1e9;
    job.priority =
        static_cast<int>(std::max(-kLargestPriority, std::min(priority, kLargestPriority)));
    if (const Parsed timed = run_time(job_type, job); timed != Parsed::kJob) return timed;
    if (factor >= 0) job.deadline = job.submit + factor * job.duration;
    return Parsed::kJob;
  }

 private:
  // A field the layout lacks keeps its default.
  bool number(const std::vector<std::string_view>& cells, int position, std::string_view name,
              double& value) {
    if (position < 0) return true;
    const std::string_view cell = trim(cells[static_cast<std::size_t>(position)]);
    if (read_real(cell, value) && value == value) return true;
    bad(position + 1, name, cell, "a number");
    return false;
  }

  Parsed run_time(std::string_view job_type, JobSpec& job) {
    if (!throughputs_) {
      job.duration = job.iterations * step_seconds_;
      return Parsed::kJob;
    }
    const int key = throughputs_->key(job_type, job.gpus);
    const double rate = key == ThroughputTable::kUnknown ? 0 : throughputs_->alone(reference_, key);
    if (!(rate > 0)) {
      return bad(1, "job type", fmt::format("{} on {} GPUs", job_type, job.gpus),
                 "a job type and scale that the throughputs have");
    }
    job.duration = job.iterations / rate;
    return Parsed::kJob;
  }

  std::optional<ThroughputTable> throughputs_;
  int reference_;
  double step_seconds_;
  Symbols& symbols_;
};

}  // namespace

ParamList gavel_settings() {
  return {
      {"throughputs", ParamKind::kText, "",
       "Gavel's table of throughputs (JSON), to turn steps into seconds"},
      {"reference_type", ParamKind::kText, "v100",
       "GPU type whose throughput turns steps into durations"},
      {"step_s", ParamKind::kReal, "1", "seconds a step takes where no throughputs are given", 1e-9,
       1e9},
  };
}

bool matches_gavel(std::string_view head) {
  const std::size_t end = head.find('\n');
  const std::vector<std::string_view> cells = split(head.substr(0, end), '\t');
  const Layout* layout = layout_of(cells.size());
  double ignored = 0;
  return layout != nullptr &&
         read_real(trim(cells[static_cast<std::size_t>(layout->steps)]), ignored) &&
         read_real(trim(cells[static_cast<std::size_t>(layout->gpus)]), ignored) &&
         read_real(trim(cells[static_cast<std::size_t>(layout->arrival)]), ignored);
}

ParserResult make_gavel(const Params& settings, Symbols& symbols) {
  std::optional<ThroughputTable> throughputs;
  int reference = 0;
  if (const std::string& path = settings.text("throughputs"); !path.empty()) {
    auto loaded = load_throughput_table(path);
    if (!loaded) return loaded.error();
    reference = loaded->type(settings.text("reference_type"));
    if (reference == ThroughputTable::kUnknown) {
      const std::vector<std::string_view> known(loaded->types().begin(), loaded->types().end());
      return Error{fmt::format("{}: {}", path,
                               unknown_name("GPU type", settings.text("reference_type"), known))};
    }
    throughputs = std::move(*loaded);
  }
  return std::unique_ptr<TraceParser>(std::make_unique<GavelParser>(
      std::move(throughputs), reference, settings.real("step_s"), symbols));
}

}  // namespace muster
