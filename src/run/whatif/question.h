// A what-if question as its user writes it, on the command line, in the API of the daemon and in
// files; and a state that can be asked it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "run/config/config.h"
#include "run/whatif/answer.h"

namespace muster {

struct Question {
  std::vector<std::string>
      jobs;  // to be shown, by name or number; empty: the first that will start
  // Other policies, as on the command line; empty: as they are.
  std::string scheduling;
  std::string placement;
  std::string admission;
  Change change;       // without policies
  std::string errors;  // how wrong beliefs are, as in log-normal:sigma=1; empty: as the run says
  int samples = OutlookOptions{}.samples;
  Seconds horizon = kNever;
};

// As JSON, and back. The error names the field that is not understood.
std::string question_json(const Question& question);
Result<Question> parse_question(std::string_view text);

// A saved run, or a copy of one that goes on. It has symbols of its own: a question may name a
// partition that does not exist.
struct Subject {
  EngineWorld world;
  OutlookParts parts;
  RunConfig config;
  Symbols symbols;
};

// What a copy runs with, from the parts of an engine that has not decided anything yet.
OutlookParts outlook_parts(const Engine::Parts& fresh);

// How wrong the beliefs of a described run are: `given` (as in log-normal:sigma=1), else what the
// description says of its estimates, else log-normal. Null where the run knows the truth and
// nothing is given: there is nothing to be wrong about. `symbols` must outlive it.
Result<std::function<std::unique_ptr<ErrorModel>(int)>> errors_of(const RunConfig& config,
                                                                  const std::string& given,
                                                                  const Symbols& symbols);

// `keep_going` as in OutlookOptions.
Result<Answer> ask(Subject& subject, const Question& question,
                   const std::function<bool()>& keep_going = {});

}  // namespace muster
