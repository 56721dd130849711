// AntMan's placement with the roundings of Muri's simulator.
#include "artifacts/variant.h"
#include "policy/antman/placement.h"

namespace muster {
namespace {

// There an opportunistic job takes the least used GPUs, and use is pretended: an opportunistic job
// counts 0.9, a guaranteed job 0.1 and its reservation 0.09. Sums and differences are rounded, so
// that a GPU that has seen more opportunistic jobs and holders comes out a hair below one that has
// seen fewer.
class RoundedAntMan final : public AntManPlacement {
 public:
  PlacementTraits traits() const override {
    PlacementTraits traits = AntManPlacement::traits();
    traits.strands = true;  // it opens no nodes for jobs of several
    return traits;
  }
  bool checkpoint(Archive& archive) override {
    archive.lists(use_);
    return AntManPlacement::checkpoint(archive);
  }
  std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<RoundedAntMan>(*this);
  }

 protected:
  void on_change(std::size_t node, std::size_t gpu, Change change) override {
    if (use_.size() <= node) use_.resize(node + 1);
    if (use_[node].size() <= gpu) use_[node].resize(gpu + 1, 0.0);
    use_[node][gpu] += use_of(change);
  }
  bool opens_nodes() const override { return false; }
  double rank(std::size_t node, std::size_t gpu) const override {
    return node < use_.size() && gpu < use_[node].size() ? use_[node][gpu] : 0;
  }

 private:
  static constexpr double use_of(Change change) {
    constexpr double kHeld = 0.10;
    constexpr double kStarted = 0.01;  // what a start adds to a reservation
    constexpr double kOpportunistic = 0.90;
    switch (change) {
      case Change::kReserved:
        return kHeld - kStarted;
      case Change::kReleased:
        return -(kHeld - kStarted);
      case Change::kStarted:
        return kStarted;
      case Change::kEnded:
        return -kHeld;
      case Change::kJoined:
        return kOpportunistic;
      case Change::kLeft:
        return -kOpportunistic;
    }
    return 0;
  }

  std::vector<std::vector<double>> use_;  // by node and GPU
};

}  // namespace

PolicyInfo<PlacementPolicy> antman_as_coded_row() {
  return variant_of<PlacementPolicy>(
      placement_table(), "antman", "antman-as-coded",
      "as antman, but ties between equally used GPUs are broken by the original's rounding errors, "
      "and jobs of several nodes may wait for each other for ever",
      [](const Params&) -> std::unique_ptr<PlacementPolicy> {
        return std::make_unique<RoundedAntMan>();
      });
}

}  // namespace muster
