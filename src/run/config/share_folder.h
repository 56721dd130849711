// Where the files that come with Muster are: presets and experiments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster {

// The file `kind`/`name`.toml, for kind "presets" or "experiments/blox". Looked for in the folder
// that MUSTER_HOME names, then beside the command: in an installation under ../share/muster, in a
// source tree two folders above the build. The error lists what there is.
Result<std::string> find_shared_file(std::string_view kind, std::string_view noun,
                                     std::string_view name);

// Names of the files (without .toml) or folders of that kind, sorted.
std::vector<std::string> shared_files(std::string_view kind);
std::vector<std::string> shared_folders(std::string_view kind);

}  // namespace muster
