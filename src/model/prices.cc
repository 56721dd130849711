#include "model/prices.h"

#include <algorithm>
#include <map>

namespace muster {
namespace {

constexpr Seconds kHour = 3600;

// The step that holds at `time`: the last that began, or the first of all.
template <typename Steps>
auto holding(const Steps& steps, Seconds time) {
  auto after = std::upper_bound(steps.begin(), steps.end(), time,
                                [](Seconds t, const auto& step) { return t < step.from; });
  return after == steps.begin() ? after : after - 1;
}

}  // namespace

const PriceBook::Type* PriceBook::find(Symbol type) const {
  for (const Type& one : types_) {
    if (one.symbol == type) return &one;
  }
  return nullptr;
}

PriceBook::PriceBook(std::vector<Offer> offers) {
  std::stable_sort(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) {
    return a.type != b.type ? a.type < b.type : a.from < b.from;
  });
  std::map<std::string, double> asked;  // of the present type, by seller
  for (std::size_t i = 0; i < offers.size(); ++i) {
    if (types_.empty() || types_.back().symbol != offers[i].type) {
      types_.push_back({offers[i].type, {}});
      asked.clear();
      // Before its first offer a seller asks what that offer says.
      for (std::size_t j = offers.size(); j-- > i;) {
        if (offers[j].type == offers[i].type) asked[offers[j].seller] = offers[j].dollars;
      }
    }
    asked[offers[i].seller] = offers[i].dollars;
    const bool more_now = i + 1 < offers.size() && offers[i + 1].type == offers[i].type &&
                          offers[i + 1].from == offers[i].from;
    if (more_now) continue;
    double least = kNever;
    for (const auto& [seller, dollars] : asked) least = std::min(least, dollars);
    std::vector<Step>& steps = types_.back().cheapest;
    if (steps.empty() || steps.back().dollars != least) steps.push_back({offers[i].from, least});
  }
}

double PriceBook::at(Symbol type, Seconds time) const {
  const Type* found = find(type);
  return found == nullptr ? 0 : holding(found->cheapest, time)->dollars;
}

double PriceBook::between(Symbol type, Seconds from, Seconds to) const {
  const Type* found = find(type);
  if (found == nullptr) return 0;
  double dollars = 0;
  auto step = holding(found->cheapest, from);
  for (; from < to; ++step) {
    const auto next = step + 1;
    const Seconds end = next == found->cheapest.end() ? to : std::min(to, next->from);
    dollars += (end - from) / kHour * step->dollars;
    from = end;
  }
  return dollars;
}

Seconds PriceBook::next_change(Seconds time) const {
  Seconds next = kNever;
  for (const Type& type : types_) {
    // The first price also holds before its moment.
    for (std::size_t i = 1; i < type.cheapest.size(); ++i) {
      if (type.cheapest[i].from > time) {
        next = std::min(next, type.cheapest[i].from);
        break;
      }
    }
  }
  return next;
}

}  // namespace muster
