// The interface of policies that use the prices of GPUs.
#pragma once

#include <memory>

#include "model/prices.h"

namespace muster {

class PriceAware {
 public:
  virtual ~PriceAware() = default;
  // Called once, before the run.
  virtual void use_prices(std::shared_ptr<const PriceBook> prices) = 0;
};

}  // namespace muster
