#include "perf/simple_models.h"

#include <algorithm>
#include <cmath>

namespace muster {
namespace {

class Scaling final : public PerfModel {
 public:
  explicit Scaling(double serial) : serial_(serial) {}
  double rate(const JobSpec& job, const RunContext& context) const override {
    return speedup(context.gpus) / speedup(job.gpus);
  }

 private:
  double speedup(int gpus) const { return 1 / (serial_ + (1 - serial_) / std::max(1, gpus)); }
  double serial_;
};

class Locality final : public PerfModel {
 public:
  Locality(double across_nodes, double across_racks, std::set<Symbol> only)
      : across_nodes_(across_nodes), across_racks_(across_racks), only_(std::move(only)) {}
  double rate(const JobSpec& job, const RunContext& context) const override {
    if (context.nodes <= 1 || (!only_.empty() && only_.count(job.model) == 0)) return 1;
    return context.racks > 1 ? 1 - across_racks_ : 1 - across_nodes_;
  }

 private:
  double across_nodes_;
  double across_racks_;
  std::set<Symbol> only_;
};

class GpuTypes final : public PerfModel {
 public:
  explicit GpuTypes(std::map<Symbol, double> speeds) : speeds_(std::move(speeds)) {}
  double rate(const JobSpec&, const RunContext& context) const override {
    const auto found = speeds_.find(context.gpu_type);
    return found == speeds_.end() ? 1 : found->second;
  }

 private:
  std::map<Symbol, double> speeds_;
};

class Sharing final : public PerfModel {
 public:
  explicit Sharing(double loss) : loss_(loss) {}
  double rate(const JobSpec&, const RunContext& context) const override {
    return std::pow(1 - loss_, static_cast<double>(context.neighbours.size()));
  }

 private:
  double loss_;
};

}  // namespace

std::unique_ptr<PerfModel> make_scaling(double serial) { return std::make_unique<Scaling>(serial); }

std::unique_ptr<PerfModel> make_locality(double across_nodes, double across_racks,
                                         std::set<Symbol> only) {
  return std::make_unique<Locality>(across_nodes, across_racks, std::move(only));
}

std::unique_ptr<PerfModel> make_gpu_types(std::map<Symbol, double> speeds) {
  return std::make_unique<GpuTypes>(std::move(speeds));
}

std::unique_ptr<PerfModel> make_sharing(double loss) { return std::make_unique<Sharing>(loss); }

}  // namespace muster
