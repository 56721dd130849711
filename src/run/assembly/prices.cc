#include "run/assembly/prices.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "learn/examples.h"

namespace muster {
namespace {

Status add_file(const PricesConfig& config, Symbols& symbols,
                std::vector<PriceBook::Offer>& offers) {
  const auto table = read_examples(config.file, {"gpu_type", "seller"});
  if (!table) return table.error();
  const auto times = table->need("time_s", config.file);
  if (!times) return times.error();
  const auto types = table->need("gpu_type", config.file);
  if (!types) return types.error();
  const auto prices = table->need("price", config.file);
  if (!prices) return prices.error();
  const ExampleColumn* sellers = table->find("seller");
  if (sellers == nullptr && !config.sellers.empty()) {
    return Error{
        fmt::format("{}: prices.sellers is given, but there is no column 'seller'", config.file)};
  }
  for (const auto& [column, name] : {std::pair(*times, "time_s"), std::pair(*prices, "price")}) {
    if (column->is_text) {
      return Error{fmt::format("{}: column '{}' holds text, expected numbers", config.file, name)};
    }
  }
  for (std::size_t i = 0; i < (*prices)->numbers.size(); ++i) {
    PriceBook::Offer offer;
    offer.from = (*times)->numbers[i];
    offer.dollars = (*prices)->numbers[i];
    if (!std::isfinite(offer.from) || !std::isfinite(offer.dollars) || offer.dollars < 0) {
      return Error{fmt::format(
          "{}, line {}: found time {} and price {}, expected a moment in seconds and dollars per "
          "GPU and hour, 0 or more",
          config.file, i + 2, offer.from, offer.dollars)};
    }
    if (sellers != nullptr) offer.seller = sellers->texts[i];
    const bool allowed = config.sellers.empty() ||
                         std::find(config.sellers.begin(), config.sellers.end(), offer.seller) !=
                             config.sellers.end();
    if (!allowed) continue;
    offer.type = symbols.intern((*types)->texts[i]);
    offers.push_back(std::move(offer));
  }
  return Done{};
}

}  // namespace

Result<std::shared_ptr<const PriceBook>> load_prices(const PricesConfig& config,
                                                     const ClusterSpec& cluster, Symbols& symbols) {
  if (config.empty()) return std::shared_ptr<const PriceBook>();
  std::vector<PriceBook::Offer> offers;
  for (const auto& [type, dollars] : config.table) {
    offers.push_back({symbols.intern(type), "the table", 0, dollars});
  }
  if (!config.file.empty()) {
    if (Status added = add_file(config, symbols, offers); !added) return added.error();
  }
  auto book = std::make_shared<const PriceBook>(std::move(offers));
  for (const NodeSpec& node : cluster.nodes) {
    if (book->knows(node.gpu_type)) continue;
    const std::string& type = symbols.text(node.gpu_type);
    return Error{
        fmt::format("prices: no price for GPUs of type '{}', which the cluster has; add one under "
                    "[prices.table]{}",
                    type, config.sellers.empty() ? "" : ", or allow more sellers")};
  }
  return book;
}

}  // namespace muster
