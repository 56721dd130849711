#include "backend/sim/progress_model.h"

namespace muster {
namespace {

class OpenEnded final : public ProgressModel {
 public:
  Seconds end_of(const Command&, const JobProgress&, double, Seconds) override { return kNever; }
  void checkpoint(Archive&) override {}
  std::unique_ptr<ProgressModel> clone() const override {
    return std::make_unique<OpenEnded>(*this);
  }
};

}  // namespace

std::unique_ptr<ProgressModel> make_open_ended() { return std::make_unique<OpenEnded>(); }

}  // namespace muster
