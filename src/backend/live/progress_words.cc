#include "backend/live/progress_words.h"

#include <algorithm>

#include "base/text.h"

namespace muster {

bool hear_progress(ProgressReport& progress, std::string_view line) {
  const std::vector<std::string_view> words = split(line, ' ');
  const auto number = [&](std::size_t i) {
    return i < words.size() ? parse_real(words[i]).value_or(0) : 0;
  };
  if (words[0] == "step") {
    progress.step = std::max(progress.step, number(1));
    if (number(2) > 0) progress.total = number(2);
  } else if (words[0] == "saved") {
    progress.saved_step = std::max(progress.saved_step, number(1));
  } else if (words[0] == "left" || words[0] == "done") {
    progress.step = std::max(progress.step, number(2));
    if (words[0] == "left") progress.saved_step = std::max(progress.saved_step, number(2));
  } else if (words[0] == "metric" && words.size() == 3) {
    const std::string name(words[1]);
    const auto same = [&name](const auto& metric) { return metric.first == name; };
    const auto found = std::find_if(progress.metrics.begin(), progress.metrics.end(), same);
    if (found != progress.metrics.end()) {
      found->second = number(2);
    } else if (progress.metrics.size() < 32) {
      progress.metrics.emplace_back(name, number(2));
    }
  } else {
    return false;
  }
  return true;
}

}  // namespace muster
