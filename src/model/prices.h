// What GPUs cost: dollars per GPU and hour by type, from moments on. Several sellers may offer a
// type; the cheapest counts. Use it for costs of jobs and runs, and for policies that look at them.
#pragma once

#include <string>
#include <vector>

#include "base/symbols.h"
#include "model/ids.h"

namespace muster {

class PriceBook {
 public:
  // From a moment on the seller asks this much for the type.
  struct Offer {
    Symbol type = kNoSymbol;
    std::string seller;
    Seconds from = 0;
    double dollars = 0;  // per GPU and hour
  };
  // Of two offers of one seller for the same moment the later in the list counts.
  explicit PriceBook(std::vector<Offer> offers);

  bool knows(Symbol type) const { return find(type) != nullptr; }
  // Dollars per hour at that moment; before the first offer, what the first asks. 0 for unknown
  // types.
  double at(Symbol type, Seconds time) const;
  // Dollars for one GPU from one moment to another.
  double between(Symbol type, Seconds from, Seconds to) const;
  // The first moment after `time` at which a price changes; kNever if none will.
  Seconds next_change(Seconds time) const;

 private:
  struct Step {
    Seconds from = 0;
    double dollars = 0;
  };
  struct Type {
    Symbol symbol = kNoSymbol;
    std::vector<Step> cheapest;  // by time; neighbours differ
  };

  const Type* find(Symbol type) const;

  std::vector<Type> types_;
};

}  // namespace muster
