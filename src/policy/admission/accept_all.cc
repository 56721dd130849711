#include "base/archive.h"
#include "policy/table.h"

namespace muster {
namespace {

// Every job that could ever fit is let in.
class AcceptAll final : public AdmissionPolicy {
 public:
  AdmissionAnswer admit(const View&, const Load&, const JobSpec&) override { return {}; }
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<AdmissionPolicy> clone() const override {
    return std::make_unique<AcceptAll>(*this);
  }
};

}  // namespace

PolicyInfo<AdmissionPolicy> accept_all_row() {
  return {"accept-all",
          "accepts every job that could ever fit",
          "Blox, 2024",
          {},
          [](const Params&) -> std::unique_ptr<AdmissionPolicy> {
            return std::make_unique<AcceptAll>();
          }};
}

}  // namespace muster
