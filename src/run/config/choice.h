// A plug-in by name, with the parameters that a user gave: a policy, a pacing, a performance model,
// a generator. On the command line, and as a short form in TOML, it is written
//
//   las    las:service=seconds,quantum=600    gpu-types:speeds="v100=1,k80=0.25"
//   my_policy.py:MyPolicy    my_policy.py:MyPolicy:quantum=600
#pragma once

#include <string>
#include <string_view>

#include "base/params.h"
#include "base/result.h"

namespace muster {

struct Choice {
  std::string name;
  ParamTexts params = {};

  bool empty() const { return name.empty(); }
  std::string text() const;  // in the form above
  friend bool operator==(const Choice&, const Choice&) = default;
};

// `what` names the place in messages ("--scheduling").
Result<Choice> parse_choice(std::string_view text, std::string_view what);

// The choice with every parameter written out, checked against the row's description; those in
// `usual` replace the defaults of the table.
Result<Choice> complete_choice(std::string_view kind, const ParamList& list, const Choice& choice,
                               const ParamTexts& usual);

// The choice without the parameters that have their default value.
Choice shorten_choice(const ParamList& list, const Choice& choice);

}  // namespace muster
