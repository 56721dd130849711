// Policies from outside (policy/plugin.h): how they are built and loaded.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "policy/plugin.h"

namespace muster {

// The folder of the headers that policies include: in an installation ../include/muster beside the
// command, in a source tree its src/.
Result<std::string> policy_headers();

// Changes whenever one of those headers does.
Result<std::string> headers_fingerprint(const std::string& folder);

// The compiler (CXX, or else c++) and its arguments that make `library` of `source`.
Result<std::vector<std::string>> policy_build_command(const std::string& source,
                                                      const std::string& library);

// Adds the rows of a library to the tables. Call it before anything has asked for them
// (run/config/plugin_tables.h); libraries stay loaded.
Status load_policy_plugin(const std::string& path);
// All that were loaded.
const PolicyPlugin& loaded_policies();

}  // namespace muster
