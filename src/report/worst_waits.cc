#include "report/worst_waits.h"

#include <algorithm>

#include <fmt/format.h>

#include "report/json.h"
#include "report/units.h"

namespace muster {

Result<std::vector<Story>> worst_waits(const ResultFolder& result, std::size_t most) {
  struct Waited {
    Seconds seconds;
    JobId job;
  };
  std::vector<Waited> jobs;
  const auto longer = [](const Waited& a, const Waited& b) {
    return a.seconds != b.seconds ? a.seconds > b.seconds : a.job < b.job;
  };
  Symbols symbols;
  const Status read = result.for_each_job(symbols, [&](const JobRecord& job) {
    if (!(job.queue > 0)) return true;
    // A heap whose front is the shortest of the longest.
    jobs.push_back({job.queue, job.id});
    std::push_heap(jobs.begin(), jobs.end(), longer);
    if (jobs.size() <= most) return true;
    std::pop_heap(jobs.begin(), jobs.end(), longer);
    jobs.pop_back();
    return true;
  });
  if (!read) return read.error();
  std::sort(jobs.begin(), jobs.end(), longer);
  std::vector<Story> stories;
  for (const Waited& one : jobs) {
    auto story = explain_job(result, fmt::format("#{}", index(one.job)));
    if (!story) return story.error();
    stories.push_back(std::move(*story));
  }
  return stories;
}

std::string worst_waits_text(const std::vector<Story>& stories, const ResultFolder& result,
                             const TextStyle& style) {
  if (stories.empty()) return "No job waited.\n";
  Table table({{"job", "job"},
               {"gpus", "GPUs", Unit::kCount},
               {"waited_s", "waited", Unit::kSeconds},
               {"ran_s", "ran", Unit::kSeconds},
               {"share", "share", Unit::kRatio},
               {"why", "of it because"}});
  for (const Story& story : stories) {
    const StoryTotal total = story.waits.empty() ? StoryTotal{} : story.waits.front();
    table.add_row({story.job.name.empty() ? fmt::format("#{}", index(story.id)) : story.job.name,
                   static_cast<double>(story.job.gpus), story.waited, story.ran,
                   story.waited > 0 ? total.seconds / story.waited : 0, total_sentence(total)});
  }
  return fmt::format(
      "The jobs of {} that waited longest:\n\n{}\nmuster explain {} '#{}' tells the "
      "whole story of the first.\n",
      result.path(), table.text(style), result.path(), index(stories.front().id));
}

std::string worst_waits_json(const std::vector<Story>& stories) {
  JsonWriter json(1);
  json.begin_array();
  for (const Story& story : stories) {
    const StoryTotal total = story.waits.empty() ? StoryTotal{} : story.waits.front();
    json.begin_object().member("id", static_cast<double>(index(story.id)));
    json.member("name", std::string_view(story.job.name));
    json.member("gpus", static_cast<double>(story.job.gpus));
    json.member("waited_s", story.waited).member("ran_s", story.ran);
    json.member("because", std::string_view(total_sentence(total)));
    json.member("because_s", total.seconds).end_object();
  }
  json.end_array();
  return json.take() + "\n";
}

}  // namespace muster
