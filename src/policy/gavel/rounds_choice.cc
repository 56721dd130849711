// Which jobs run in the next round: priorities, and the walk down the order of precedence.
#include <algorithm>

#include "policy/gavel/problem.h"
#include "policy/gavel/rounds.h"

namespace muster {

// Claims change only with the fractions or the entries, so that most rounds reuse the list.
void RoundsPolicy::find_claims() {
  claims_stale_ = false;
  claims_.resize(types_);
  for (std::vector<std::size_t>& of_type : claims_) of_type.clear();
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    for (std::size_t w = 0; w < types_; ++w) {
      Cell& one = cell(e, w);
      const bool runs = one.rate != 0 && (!entries_[e].pair() || one.second_rate != 0);
      one.priority = 0;
      if (entries_[e].allocated && one.fraction != 0 && runs) claims_[w].push_back(e * types_ + w);
    }
  }
}

// Fraction over part of the time received (Gavel, section 5): above 1 is owed time. A cell that has
// received none comes before all that have.
void RoundsPolicy::set_priorities() {
  if (claims_stale_) find_claims();
  for (std::size_t w = 0; w < types_; ++w) {
    for (const std::size_t at : claims_[w]) {
      Cell& one = cells_[at];
      const double part = type_time_[w] == 0 ? 0 : one.time / type_time_[w];
      one.priority = part > 0 ? one.fraction / part : one.fraction * 1e9;
    }
  }
}

// In the cluster's order, which is that of the columns reversed. An allocator that does not tell
// types apart has them shuffled, so that no type is always filled first.
void RoundsPolicy::order_types() {
  order_.resize(types_);
  for (std::size_t w = 0; w < types_; ++w) order_[w] = types_ - 1 - w;
  if (!allocator_->traits().knows_types) shuffler_.shuffle(order_);
}

void RoundsPolicy::choose(const View& view, Plan& plan) {
  chosen_.assign(view.jobs.slots(), 0);
  left_ = capacity_;
  unchosen_ = 0;
  for (const Entry& entry : entries_) unchosen_ += entry.pair() ? 0 : 1;
  order_types();
  take_kept();
  // Type by type, or all at once. Gavel's scheduler fills one type after the other; with a global
  // queue all cells compete in one order of priority.
  const std::size_t step = options_.global_queue ? types_ : 1;
  for (std::size_t from = 0; from < types_; from += step) {
    take_claims(from, from + step);
    if (!allocator_->traits().strict) take_others(from, from + step);
  }
  // Where the placement could follow in nothing, any GPUs are better than none until the next
  // reset.
  if (takes_any_gpus() && !idle_ && view.jobs.running().empty()) any_gpus_ = true;
  for (Turn& turn : round_) {
    const Entry& entry = entries_[turn.entry];
    if (options_.learns && entry.pair()) {
      turn.left = steps_left(view.jobs[entry.a], view.now);
      turn.second_left = steps_left(view.jobs[entry.b], view.now);
    }
    if (any_gpus_) {
      plan.add(AllocationRequest::alone(entry.a, entry.gpus));
      if (entry.pair()) plan.add(AllocationRequest::alone(entry.b, entry.gpus));
      continue;
    }
    AllocationRequest request =
        AllocationRequest::alone(entry.a, entry.gpus, symbols_[turn.column]);
    if (entry.pair()) request.join(entry.b);
    plan.add(request);
  }
  if (!any_gpus_) return;
  for (const Entry& entry : entries_) {
    if (!entry.pair() && chosen_[index(entry.a)] == 0)
      plan.add(AllocationRequest::alone(entry.a, entry.gpus));
  }
}

// A job that runs alone may be joined by one that waits: that takes nothing from it but speed, and
// the fractions say that it is worth it.
void RoundsPolicy::take_kept() {
  if (kept_.empty()) return;
  const auto kept = [this](JobId first, JobId second) -> const Kept* {
    const Kept wanted{first, second, 0};
    const auto at = std::lower_bound(kept_.begin(), kept_.end(), wanted);
    return at != kept_.end() && !(wanted < *at) ? &*at : nullptr;
  };
  bids_.clear();
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    const Entry& entry = entries_[e];
    if (const Kept* whole = kept(entry.first, entry.second)) {
      if (entry.pair()) {
        take(e, whole->column);
      } else {
        add_bid(e * types_ + whole->column);
      }
    } else if (entry.pair()) {
      const Kept* first = kept(entry.first, kNoJob);
      const Kept* second = kept(entry.second, kNoJob);
      if ((first == nullptr) == (second == nullptr)) continue;
      const std::size_t at = e * types_ + (first != nullptr ? first : second)->column;
      if (cells_[at].priority > 0) add_bid(at);
    }
  }
  std::sort(bids_.begin(), bids_.end());
  for (const Bid& bid : bids_) take(bid.at / types_, bid.at % types_);
}

// The cells with a fraction on these types; only the others need a look at all cells, in
// take_others(). O(claims + what walk() takes).
void RoundsPolicy::take_claims(std::size_t from, std::size_t to) {
  bids_.clear();
  for (std::size_t i = from; i < to; ++i) {
    if (left_[order_[i]] == 0) continue;
    for (const std::size_t at : claims_[order_[i]]) add_bid(at);
  }
  walk(from, to);
}

// Entries without a claim take what is left; looking for them is worth it only if something is.
void RoundsPolicy::take_others(std::size_t from, std::size_t to) {
  bids_.clear();
  if (unchosen_ == 0) return;
  for (std::size_t i = from; i < to; ++i) {
    const std::size_t w = order_[i];
    if (left_[w] == 0) continue;
    for (std::size_t e = 0; e < entries_.size(); ++e) {
      const Entry& entry = entries_[e];
      const bool taken =
          chosen_[index(entry.a)] != 0 || (entry.pair() && chosen_[index(entry.b)] != 0);
      if (taken || entry.gpus > left_[w] || cell(e, w).priority > 0) continue;
      add_bid(e * types_ + w);
    }
  }
  walk(from, to);
}

// In order of precedence, until nothing is left to take. Few of many may get something, so the
// order is made only as far as it is looked at.
void RoundsPolicy::walk(std::size_t from, std::size_t to) {
  const auto room = [&] {
    return std::any_of(order_.begin() + static_cast<std::ptrdiff_t>(from),
                       order_.begin() + static_cast<std::ptrdiff_t>(to),
                       [this](std::size_t w) { return left_[w] > 0; });
  };
  const auto after = [](const Bid& a, const Bid& b) { return b < a; };
  // A heap instead of a full sort: O(c) to build and O(log c) for each cell that is looked at.
  std::make_heap(bids_.begin(), bids_.end(), after);
  auto end = bids_.end();
  while (end != bids_.begin() && unchosen_ > 0 && room()) {
    std::pop_heap(bids_.begin(), end, after);
    --end;
    take(end->at / types_, end->at % types_);
  }
}

// The entry runs on the type if all its jobs are still free and the gang fits.
void RoundsPolicy::take(std::size_t e, std::size_t w) {
  const Entry& entry = entries_[e];
  const Cell& one = cell(e, w);
  if (left_[w] == 0 || chosen_[index(entry.a)] != 0) return;
  if (entry.pair() && chosen_[index(entry.b)] != 0) return;
  if (one.rate <= 0 || (entry.pair() && one.second_rate <= 0)) return;
  if (entry.gpus > left_[w]) return;
  if (!entry.allocated && !unseen_take_room()) return;
  left_[w] -= entry.gpus;
  chosen_[index(entry.a)] = 1;
  --unchosen_;
  if (entry.pair()) {
    chosen_[index(entry.b)] = 1;
    --unchosen_;
  }
  if (entry.allocated) round_.push_back({e, w});
}

}  // namespace muster
