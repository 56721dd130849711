#include "artifacts/gavel/allocators.h"

namespace muster {
namespace {

class LiteralForm final : public ProgramForm {
 public:
  bool asks_alone(double /*rate*/) const override { return true; }
  bool asks_paired(const PairRates&) const override { return true; }
  bool has_empty_rows() const override { return false; }
  bool counts_pairs_apart() const override { return true; }
  Bound at_least(double least) const override { return {1, least}; }
  bool cleans() const override { return false; }
};

}  // namespace

const ProgramForm& literal_form() {
  static const LiteralForm kLiteral;
  return kLiteral;
}

}  // namespace muster
