// The placement of Lucid's simulator, with what it does beyond what it is meant to.
#include "policy/lucid/packing.h"

#include "artifacts/variant.h"

namespace muster {
namespace {

// No job may join a job that itself once joined another, even when it has the GPUs to itself.
class PackingAsCoded final : public PackingPlacement {
 public:
  using PackingPlacement::PackingPlacement;
  std::unique_ptr<PlacementPolicy> clone() const override {
    return std::make_unique<PackingAsCoded>(*this);
  }

 protected:
  bool may_be_joined(const Job& job) const override { return !job.joined; }
};

}  // namespace

PolicyInfo<PlacementPolicy> packing_as_coded_row() {
  return variant_of<PlacementPolicy>(
      placement_table(), "packing", "packing-as-coded",
      "as packing, and no job may join a job that itself once joined another",
      [](const Params& params) -> std::unique_ptr<PlacementPolicy> {
        return std::make_unique<PackingAsCoded>(params);
      });
}

}  // namespace muster
