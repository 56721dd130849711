#include "base/archive.h"
#include "policy/builtin.h"

namespace muster {
namespace {

// Everyone who could ever fit is let in.
class AcceptAll final : public AdmissionPolicy, public Checkpointable {
 public:
  AdmissionAnswer admit(const View&, const Load&, const JobSpec&) override { return {}; }
  bool checkpoint(Archive&) override { return true; }
  std::unique_ptr<AdmissionPolicy> clone() const override {
    return std::make_unique<AcceptAll>(*this);
  }
};

}  // namespace

std::unique_ptr<AdmissionPolicy> make_accept_all(const Params&) {
  return std::make_unique<AcceptAll>();
}

}  // namespace muster
