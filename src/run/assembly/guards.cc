#include "run/assembly/guards.h"

#include <algorithm>

#include <fmt/format.h>

#include "policy/table.h"

namespace muster {

Status fit_for(const SchedulingTraits& traits, const RunConfig& config,
               const ClusterSpec& cluster) {
  const std::string& name = config.scheduling.name;
  if (!traits.pacing.empty() && config.pacing.name != traits.pacing) {
    return Error{fmt::format(
        "scheduling policy '{}' counts on turns of the pacing '{}'; found '{}'. Set pacing = "
        "\"{}\", or begin with the preset of its system",
        name, traits.pacing, config.pacing.name, traits.pacing)};
  }
  if (traits.reproduces_simulator && !config.selector.empty()) {
    return Error{fmt::format(
        "scheduling policy '{}' reproduces a published simulator, which chooses no policies by a "
        "selector; found selector '{}'. Leave the selector out, or choose another policy",
        name, config.selector.name)};
  }
  if (!traits.needs_even_nodes) return Done{};
  const bool even = std::all_of(cluster.nodes.begin(), cluster.nodes.end(), [&](const NodeSpec& n) {
    return n.gpus == cluster.nodes.front().gpus && n.partition == kNoSymbol;
  });
  const bool lasting = cluster.schedule.empty() && config.failures.node_mtbf == kNever &&
                       config.failures.gpu_mtbf == kNever;
  if (even && lasting && !config.life.any()) return Done{};
  return Error{
      fmt::format("scheduling policy '{}' assumes equal nodes that last: it needs equal nodes "
                  "without partitions, nodes that never fail or leave, and no [life]",
                  name)};
}

Status works_outside_its_simulator(const SchedulingTraits& traits, std::string_view name) {
  if (!traits.reproduces_simulator) return Done{};
  constexpr std::string_view kAsCoded = "-as-coded";
  std::string_view general = name;
  if (general.ends_with(kAsCoded)) general.remove_suffix(kAsCoded.size());
  const auto& table = scheduling_table();
  const bool known =
      general != name &&
      std::any_of(table.begin(), table.end(), [&](const auto& row) { return row.name == general; });
  return Error{fmt::format(
      "the scheduling policy '{}' ends jobs by its own clock and repeats one published simulator; "
      "choose {}",
      name, known ? fmt::format("the general one: --scheduling {}", general) : "another one")};
}

namespace {

class CheckedSource final : public JobSource {
 public:
  CheckedSource(std::shared_ptr<const PerfModel> truth, std::shared_ptr<const PerfModel> beliefs,
                std::unique_ptr<JobSource> source)
      : truth_(std::move(truth)), beliefs_(std::move(beliefs)), source_(std::move(source)) {}
  const JobSpec* peek() override {
    const JobSpec* next = error_ ? nullptr : source_->peek();
    if (next == nullptr || checked_) return next;
    const Status believed = beliefs_->check(*next);
    const Status known = truth_ == beliefs_ || !believed ? believed : truth_->check(*next);
    if (believed && !known) {
      error_ = known.error();
      return nullptr;
    }
    checked_ = true;
    ++jobs_;
    if (!believed && refused_++ == 0) first_refusal_ = believed.error().message;
    if (believed && truth_->knows_nothing_of(*next)) ++unknown_;
    return next;
  }
  void pop() override {
    checked_ = false;
    source_->pop();
  }
  bool finished() override { return error_ || source_->finished(); }
  std::optional<Error> error() const override { return error_ ? error_ : source_->error(); }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes = source_->notes();
    if (refused_ > 0) {
      notes.push_back(
          fmt::format("the performance model does not know {} of {} jobs, which were "
                      "refused; the first: {}",
                      refused_, jobs_, first_refusal_));
    }
    if (unknown_ > 0) {
      notes.push_back(fmt::format(
          "the performance model knows nothing of {} of {} jobs, which name no model: they run as "
          "recorded on every GPU",
          unknown_, jobs_));
    }
    return notes;
  }
  bool more_after(Seconds time) const override { return source_->more_after(time); }

 private:
  std::shared_ptr<const PerfModel> truth_;
  std::shared_ptr<const PerfModel> beliefs_;
  std::unique_ptr<JobSource> source_;
  bool checked_ = false;
  long long jobs_ = 0;
  long long refused_ = 0;
  long long unknown_ = 0;
  std::string first_refusal_;
  std::optional<Error> error_;
};

}  // namespace

std::unique_ptr<JobSource> checked_by(std::shared_ptr<const PerfModel> truth,
                                      std::shared_ptr<const PerfModel> beliefs,
                                      std::unique_ptr<JobSource> source) {
  return std::make_unique<CheckedSource>(std::move(truth), std::move(beliefs), std::move(source));
}

}  // namespace muster
