#include "run/sweep/cutoffs.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/out_file.h"

namespace muster {
namespace {

// "gavel-max-min-fairness:round=720" is Gavel's max_min_fairness.
std::string gavel_name(std::string policy) {
  policy = policy.substr(0, policy.find(':'));
  constexpr std::string_view kPrefix = "gavel-";
  if (policy.starts_with(kPrefix)) policy.erase(0, kPrefix.size());
  std::replace(policy.begin(), policy.end(), '-', '_');
  return policy;
}

}  // namespace

Result<Cutoffs> Cutoffs::load(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  const auto bad = [&path](const std::string& where, std::string_view expected) {
    return Error{fmt::format("{}: {}: expected {}, as in {{\"36:36:36\": {{\"fifo\": 4.8}}}}", path,
                             where, expected)};
  };
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object()) return bad("the whole", "an object of clusters");
  Cutoffs cutoffs;
  for (const auto& [cluster, policies] : json.items()) {
    if (!policies.is_object()) return bad(cluster, "an object of policies");
    for (const auto& [policy, rate] : policies.items()) {
      if (!rate.is_number() || !(rate.get<double>() >= 0)) {
        return bad(fmt::format("{}, {}", cluster, policy), "jobs per hour, 0 or more");
      }
      cutoffs.rates_[{cluster, gavel_name(policy)}] = rate.get<double>();
    }
  }
  return cutoffs;
}

double Cutoffs::of(const std::string& cluster, const Choice& scheduling) const {
  const auto named = scheduling.params.find("policy");
  const std::string policy =
      gavel_name(named == scheduling.params.end() ? scheduling.name : named->second);
  auto found = rates_.find({cluster, policy});
  if (found == rates_.end()) found = rates_.find({cluster.substr(0, cluster.find('@')), policy});
  return found == rates_.end() ? std::numeric_limits<double>::infinity() : found->second;
}

}  // namespace muster
