// Routes that look ahead. The engine's thread copies its state; a separate thread finds the answer.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "daemon/api/api.h"
#include "daemon/core.h"
#include "daemon/forecast.h"
#include "run/config/plugin_tables.h"

namespace muster {
namespace {

constexpr const char* kBusy = "too many questions wait for an answer; ask again later";

// A name that is no row of a table would be a file that the daemon is to load.
template <typename Table>
Status check_built_in(std::string_view kind, const Table& table, const std::string& text,
                      bool is_operator) {
  if (text.empty()) return Done{};
  const auto choice = parse_choice(text, kind);
  if (!choice) return choice.error();
  if (const auto row = find_row(kind, table, choice->name); !row) return row.error();
  if (choice->params.empty() || is_operator) return Done{};
  return Error{fmt::format("{} '{}': only operators may give parameters", kind, choice->name)};
}

Status check_question(const Question& question, bool is_operator) {
  constexpr int kMostSamples = 1000;
  if (question.samples > kMostSamples) {
    return Error{fmt::format("'samples' may be at most {} here", kMostSamples)};
  }
  const PluginTables& tables = plugin_tables();
  for (const Status& status :
       {check_built_in("scheduling policy", tables.scheduling, question.scheduling, is_operator),
        check_built_in("placement policy", tables.placement, question.placement, is_operator),
        check_built_in("admission policy", tables.admission, question.admission, is_operator)}) {
    if (!status) return status;
  }
  return Done{};
}

// Jobs of others are as unknown as those that are not there; new ones are the asker's own.
void hide_jobs(const std::set<JobId>& visible, JobId first_new, Outlook& outlook) {
  std::erase_if(outlook.jobs, [&](const JobOutlook& job) {
    return job.id < first_new && !visible.contains(job.id);
  });
}

HttpResponse response_to(Subject& subject, const Question& question, bool text,
                         const std::optional<std::set<JobId>>& visible,
                         const Questions::KeepGoing& keep_going) {
  auto answer = ask(subject, question, keep_going);
  if (!answer) return error_response(409, answer.error().message);
  if (visible) {
    const JobId first_new{subject.world.next_id};
    hide_jobs(*visible, first_new, answer->as_is);
    if (answer->changed) hide_jobs(*visible, first_new, *answer->changed);
  }
  if (Status known = know_jobs(*answer, question.jobs); !known) {
    return error_response(404, known.error().message);
  }
  HttpResponse response;
  if (!text) {
    response.body = answer_json(*answer) + "\n";
    return response;
  }
  auto words = answer_text(*answer, question.jobs, false);
  if (!words) return error_response(404, words.error().message);
  response.type = "text/plain; charset=utf-8";
  response.body = std::move(*words);
  return response;
}

}  // namespace

void Api::what_if(const ApiCall& call) {
  const auto question = parse_question(call.request.body);
  if (!question) return call.reply(error_response(400, question.error().message));
  if (Status fine = check_question(*question, call.caller.is_operator); !fine) {
    return call.reply(error_response(400, fine.error().message));
  }
  const auto as = call.request.query.find("as");
  const bool text = as != call.request.query.end() && as->second == "text";
  std::optional<std::set<JobId>> visible;
  if (!call.caller.is_operator) {
    visible.emplace();
    const auto mine = [&](const BoardJob& job) {
      return call.caller.may_see(job) && !over(*job.row);
    };
    for (const BoardJob& job : parts_.board.jobs(mine, 1'000'000)) visible->insert(job.row->id);
  }
  const auto subject = std::make_shared<std::optional<Subject>>();
  parts_.ask({[subject, this](Core& core) -> Status {
                *subject = core.subject(parts_.clock.now());
                return Done{};
              },
              [subject, question = *question, text, visible, reply = call.reply,
               this](const Status& status) {
                if (!status) return reply(error_response(409, status.error().message));
                const bool taken = parts_.think(
                    [subject, question, text, visible, reply](const Questions::KeepGoing& go) {
                      reply(response_to(**subject, question, text, visible, go));
                    });
                if (!taken) reply(error_response(503, kBusy));
              }});
}

void Api::explain(const ApiCall& call) {
  const std::optional<BoardJob> job = job_of(call);
  if (!job) return;
  const JobId id = job->row->id;
  struct Found {
    JobStory story;
    std::vector<StoredDecision> decisions;
    std::optional<Subject> subject;  // only where it waits
  };
  const auto found = std::make_shared<Found>();
  const auto look = [found, id, this](Core& core) -> Status {
    found->story = core.explain(id);
    auto decisions = parts_.decisions(id);
    if (!decisions) return decisions.error();
    found->decisions = std::move(*decisions);
    if (!found->story.waits || found->story.held) return Done{};
    found->subject = core.subject(parts_.clock.now());
    return Done{};
  };
  const auto tell = [found, job = *job, caller = call.caller, reply = call.reply, this] {
    // The number of jobs before it is public, their identity is not.
    constexpr std::size_t kMostNamed = 10;
    std::vector<JobId> named;
    for (const JobId one : found->story.before.value_or(std::vector<JobId>())) {
      const auto other = parts_.board.job(one);
      if (other && caller.may_see(*other)) named.push_back(one);
      if (named.size() == kMostNamed) break;
    }
    HttpResponse response;
    response.body = story_json(job, found->story, named, found->decisions);
    reply(std::move(response));
  };
  parts_.ask({look, [found, id, tell, reply = call.reply, this](const Status& status) {
                if (!status) return reply(error_response(409, status.error().message));
                if (!found->subject) return tell();
                const bool taken = parts_.think([found, id, tell](const Questions::KeepGoing& go) {
                  foresee_start(*found->subject, id, go, found->story);
                  tell();
                });
                if (!taken) tell();
              }});
}

}  // namespace muster
