#include "workload/error_models.h"

#include <map>
#include <string>

#include "base/random.h"

namespace muster {
namespace {

class LogNormal final : public ErrorModel {
 public:
  LogNormal(double sigma, double median, std::uint64_t seed)
      : sigma_(sigma), median_(median), random_(seed, "errors of estimates") {}
  double factor(const JobSpec&) override { return median_ * random_.log_normal(0, sigma_); }

 private:
  double sigma_;
  double median_;
  Random random_;
};

class Biased final : public ErrorModel {
 public:
  explicit Biased(double factor) : factor_(factor) {}
  double factor(const JobSpec&) override { return factor_; }

 private:
  double factor_;
};

// What a user gets wrong follows from the name, not from who came first.
class ByUser final : public ErrorModel {
 public:
  ByUser(double between, double within, std::uint64_t seed, const Symbols& symbols)
      : between_(between),
        within_(within),
        seed_(seed),
        symbols_(symbols),
        random_(seed, "errors of estimates") {}
  double factor(const JobSpec& job) override {
    const auto [found, fresh] = of_user_.try_emplace(job.user, 1);
    if (fresh) {
      const std::string purpose = "errors of user " + std::string(symbols_.text(job.user));
      found->second = Random(seed_, purpose).log_normal(0, between_);
    }
    return found->second * random_.log_normal(0, within_);
  }

 private:
  double between_;
  double within_;
  std::uint64_t seed_;
  const Symbols& symbols_;
  Random random_;
  std::map<Symbol, double> of_user_;
};

constexpr double kMostSigma = 10;
const ParamInfo kSeed{"seed", ParamKind::kInteger, "1", "seed of the draws", 0};

std::uint64_t seed_of(const Params& params) {
  return static_cast<std::uint64_t>(params.integer("seed"));
}

}  // namespace

const std::vector<ErrorModelInfo>& error_model_table() {
  static const std::vector<ErrorModelInfo> kTable = {
      {"log-normal",
       "an estimate is the true duration times a log-normal factor, drawn for each job",
       "folklore",
       {{"sigma", ParamKind::kReal, "0.5",
         "deviation of the factor's logarithm; 0.7 is a factor of two either way", 0, kMostSigma},
        {"median", ParamKind::kReal, "1", "median of the factor", 1e-6, 1e6},
        kSeed},
       [](const Params& p, const Symbols&) -> std::unique_ptr<ErrorModel> {
         return std::make_unique<LogNormal>(p.real("sigma"), p.real("median"), seed_of(p));
       }},
      {"biased",
       "every estimate is wrong by the same factor",
       "folklore",
       {{"factor", ParamKind::kReal, "2", "estimate over true duration", 1e-6, 1e6}},
       [](const Params& p, const Symbols&) -> std::unique_ptr<ErrorModel> {
         return std::make_unique<Biased>(p.real("factor"));
       }},
      {"by-user",
       "each user is wrong by a log-normal factor of their own, and a little more for each job",
       "folklore",
       {{"between", ParamKind::kReal, "1", "deviation of the logarithm between users", 0,
         kMostSigma},
        {"within", ParamKind::kReal, "0.3", "the same between jobs of one user", 0, kMostSigma},
        kSeed},
       [](const Params& p, const Symbols& symbols) -> std::unique_ptr<ErrorModel> {
         return std::make_unique<ByUser>(p.real("between"), p.real("within"), seed_of(p), symbols);
       }},
  };
  return kTable;
}

}  // namespace muster
