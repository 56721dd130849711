// Moves a finished folder to its place in one step, and never deletes what is not a Muster result.
#pragma once

#include <string>

#include "base/result.h"

namespace muster {

// Whether a result may be put at `target`: it does not exist, is empty, or holds a muster result
// and nothing else. Anything else is refused, unless `force` allows setting it aside as
// `target`.old.
Status check_target(const std::string& target, bool force);

// Renames what is at `target` to `target`.old, or to a name like it that is free.
Status set_aside(const std::string& target);

// A fresh working folder next to `target`, named `target`.partial-<process id>.
Result<std::string> make_partial_folder(const std::string& target);

// Moves the finished folder to `target`. An older muster result there is replaced in one step.
Status put_in_place(const std::string& partial, const std::string& target, bool force);

}  // namespace muster
