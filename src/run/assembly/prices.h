// The prices of a run's GPUs, from its description: a table by GPU type, or a CSV file of prices
// that change.
//
// The file has the columns time_s, gpu_type and price (dollars per GPU and hour from then on), and
// may have a column seller: the cheapest of those that are allowed counts.
#pragma once

#include <memory>

#include "base/result.h"
#include "model/cluster_spec.h"
#include "model/prices.h"
#include "run/config/config.h"

namespace muster {

// Null where the description names none. Every GPU type of the cluster needs a price.
Result<std::shared_ptr<const PriceBook>> load_prices(const PricesConfig& config,
                                                     const ClusterSpec& cluster, Symbols& symbols);

}  // namespace muster
