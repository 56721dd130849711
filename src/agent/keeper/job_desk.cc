#include "agent/keeper/job_desk.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"

namespace muster {
namespace {

// Word `i` as a step, a whole number that is not negative; -1 if it is none.
std::int64_t step_in(const std::vector<std::string_view>& words, std::size_t i) {
  if (i >= words.size()) return -1;
  return std::max<std::int64_t>(-1, parse_integer(words[i]).value_or(-1));
}

bool name_of_metric(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '/' || c == '-';
  });
}

// Takes as long for a wrong token as for one that is nearly right.
bool same_token(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  int difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
  return difference == 0;
}

}  // namespace

bool JobDesk::heard(Client client, std::string_view line, double now) {
  const std::vector<std::string_view> words = split(line, ' ');
  const auto found = ranks_.find(client);
  if (found == ranks_.end()) return greet(client, words, now);
  if (words.size() == 1 && words[0] == "renew") {
    news_.emplace_back("renew");
    tell_lease(client, now);
    return true;
  }
  if (told(found->second, words)) return true;
  replies_.emplace_back(client, fmt::format("refused cannot read '{}'", line.substr(0, 80)));
  return false;
}

bool JobDesk::greet(Client client, const std::vector<std::string_view>& words, double now) {
  const std::int64_t rank = step_in(words, 2);
  if (words[0] != "hello" || words.size() != 3 || rank < 0 || rank > 1'000'000 ||
      settings_.token.empty() || !same_token(words[1], settings_.token)) {
    replies_.emplace_back(client, "refused expected: hello TOKEN RANK, with this launch's token");
    return false;
  }
  ranks_[client].number = static_cast<int>(rank);
  replies_.emplace_back(client, fmt::format("welcome {} {}", settings_.job, settings_.launch));
  if (lease_until_ > 0) tell_lease(client, now);
  if (last_) {
    replies_.emplace_back(client, fmt::format("last {}", *last_));
  } else if (leaving_) {
    replies_.emplace_back(client, "where");
  }
  return true;
}

bool JobDesk::told(Rank& rank, const std::vector<std::string_view>& words) {
  const std::string_view verb = words[0];
  if (verb == "metric") return metric(words);
  const std::int64_t step = step_in(words, 1);
  if (step < 0 || words.size() > (verb == "step" ? 3U : 2U)) return false;
  if (verb == "step") {
    const std::int64_t total = words.size() == 3 ? step_in(words, 2) : 0;
    if (total < 0) return false;
    step_ = std::max(step_, step);
    news_.push_back(fmt::format("step {} {}", step, total));
  } else if (verb == "saved") {
    saved_ = std::max(saved_, step);
    news_.push_back(fmt::format("saved {}", step));
  } else if (verb == "at") {
    rank.at = step;
    count_answers();
  } else if (verb == "left" || verb == "done") {
    rank.gone = true;
    step_ = std::max(step_, step);
    (verb == "left" ? left_ : done_) = true;
    // One that is done may not have saved its last steps yet, nor ever do so.
    if (verb == "left") saved_ = std::max(saved_, step);
    news_.push_back(fmt::format("{} {} {}", verb, rank.number, step));
    count_answers();
  } else {
    return false;
  }
  return true;
}

bool JobDesk::metric(const std::vector<std::string_view>& words) {
  if (words.size() != 3 || !name_of_metric(words[1])) return false;
  const std::optional<double> value = parse_real(words[2]);
  if (!value) return false;
  if (std::isfinite(*value)) news_.push_back(fmt::format("metric {} {}", words[1], *value));
  return true;
}

void JobDesk::closed(Client client) {
  if (ranks_.erase(client) != 0) count_answers();
}

void JobDesk::ask_to_leave() {
  if (leaving_) return;
  leaving_ = true;
  for (const auto& [client, rank] : ranks_) {
    if (!rank.gone) replies_.emplace_back(client, "where");
  }
  // Without ranks here nothing can be asked; the keeper then uses signals.
}

void JobDesk::count_answers() {
  if (!leaving_ || last_ || reported_) return;
  std::int64_t most = -1;
  for (const auto& [client, rank] : ranks_) {
    if (rank.gone) continue;
    if (!rank.at) return;
    most = std::max(most, *rank.at);
  }
  if (most < 0) return;
  reported_ = true;
  if (settings_.whole) {
    agree(most + 1);
  } else {
    news_.push_back(fmt::format("at {}", most));
  }
}

void JobDesk::agree(std::int64_t last) {
  if (last_) return;
  leaving_ = true;
  last_ = last;
  for (const auto& [client, rank] : ranks_) {
    replies_.emplace_back(client, fmt::format("last {}", last));
  }
}

void JobDesk::lease(double until, double now) {
  lease_until_ = until;
  for (const auto& [client, rank] : ranks_) tell_lease(client, now);
}

void JobDesk::tell_lease(Client client, double now) {
  if (lease_until_ <= 0 || std::isinf(lease_until_)) {
    replies_.emplace_back(client, "lease none");
  } else {
    replies_.emplace_back(client, fmt::format("lease {:.3f}", std::max(0.0, lease_until_ - now)));
  }
}

bool JobDesk::someone_listens() const {
  return std::any_of(ranks_.begin(), ranks_.end(),
                     [](const auto& entry) { return !entry.second.gone; });
}

}  // namespace muster
