#include "core/job_columns.h"

#include <cmath>

#include "base/text.h"

namespace muster::python {
namespace {

template <auto field>
double get_field(const JobSpec& job) {
  return static_cast<double>(job.*field);
}
template <auto field>
void set_field(JobSpec& job, double value) {
  job.*field = static_cast<std::remove_reference_t<decltype(job.*field)>>(value);
}
template <Stage stage>
double get_stage(const JobSpec& job) {
  return job.stage_ms[static_cast<std::size_t>(stage)];
}
template <Stage stage>
void set_stage(JobSpec& job, double value) {
  job.stage_ms[static_cast<std::size_t>(stage)] = value;
}

template <auto field>
constexpr NumberColumn number(const char* name, bool required = false) {
  using Type = std::remove_reference_t<decltype(std::declval<JobSpec>().*field)>;
  return {name, required, std::is_integral_v<Type>, get_field<field>, set_field<field>};
}
template <Stage which>
constexpr NumberColumn stage_time(const char* name) {
  return {name, false, false, get_stage<which>, set_stage<which>};
}

constexpr NumberColumn kNumbers[] = {
    number<&JobSpec::submit>("submit_s", true),
    number<&JobSpec::duration>("duration_s", true),
    number<&JobSpec::gpus>("gpus", true),
    number<&JobSpec::min_gpus>("min_gpus"),
    number<&JobSpec::max_gpus>("max_gpus"),
    number<&JobSpec::deadline>("deadline_s"),
    number<&JobSpec::value>("value"),
    number<&JobSpec::estimate>("estimate_s"),
    number<&JobSpec::cpus>("cpus"),
    number<&JobSpec::memory_gb>("memory_gb"),
    number<&JobSpec::iterations>("iterations"),
    number<&JobSpec::batch_size>("batch_size"),
    number<&JobSpec::priority>("priority"),
    number<&JobSpec::step_ms>("step_ms"),
    stage_time<Stage::kStorage>("storage_ms"),
    stage_time<Stage::kCpu>("cpu_ms"),
    stage_time<Stage::kGpu>("gpu_ms"),
    stage_time<Stage::kNetwork>("network_ms"),
};

constexpr TextColumn kTexts[] = {
    {"model", &JobSpec::model},
    {"user", &JobSpec::user},
    {"partition", &JobSpec::partition},
    {"gpu_type", &JobSpec::gpu_type},
};

}  // namespace

std::span<const NumberColumn> number_columns() { return kNumbers; }
std::span<const TextColumn> text_columns() { return kTexts; }

std::string steps_text(const JobSpec& job) {
  std::string text;
  for (const ValueStep& step : job.later) {
    if (!text.empty()) text += ';';
    text += exact_text(step.by) + ':' + exact_text(step.value);
  }
  return text;
}

std::optional<std::vector<ValueStep>> steps_from(const std::string& text) {
  std::vector<ValueStep> steps;
  if (text.empty()) return steps;
  for (const std::string_view pair : split(text, ';')) {
    const std::size_t colon = pair.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const auto by = parse_real(pair.substr(0, colon));
    const auto value = parse_real(pair.substr(colon + 1));
    if (!by || !value || !std::isfinite(*by) || !std::isfinite(*value)) return std::nullopt;
    if (!steps.empty() && !(*by > steps.back().by)) return std::nullopt;
    steps.push_back({*by, *value});
  }
  return steps;
}

}  // namespace muster::python
