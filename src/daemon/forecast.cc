#include "daemon/forecast.h"

#include <algorithm>

namespace muster {

void foresee_start(const Subject& subject, JobId job, const std::function<bool()>& keep_going,
                   JobStory& story) {
  OutlookOptions options;
  options.starts_of = {job};
  options.keep_going = keep_going;
  options.threads = 1;  // the machine may have better things to do
  auto errors = errors_of(subject.config, {}, subject.symbols);
  if (!errors) return;
  options.errors = std::move(*errors);
  const auto outlook = look_out(subject.world, subject.parts, options);
  if (!outlook) return;
  const auto found = std::find_if(outlook->jobs.begin(), outlook->jobs.end(),
                                  [job](const JobOutlook& one) { return one.id == job; });
  if (found == outlook->jobs.end()) return;
  const auto from_now = [&subject](Seconds at) {
    return at == kNever ? kNever : std::max(0.0, at - subject.world.now);
  };
  story.expected = from_now(found->start.believed);
  story.early = from_now(found->start.early);
  story.late = from_now(found->start.late);
  std::vector<std::pair<std::size_t, JobId>> before;
  for (const JobOutlook& one : outlook->jobs) {
    const bool sooner = one.turn > 0 && (found->turn == 0 || one.turn < found->turn);
    if (sooner && one.id != job) before.emplace_back(one.turn, one.id);
  }
  std::sort(before.begin(), before.end());
  story.before.emplace();
  for (const auto& [turn, id] : before) story.before->push_back(id);
}

}  // namespace muster
