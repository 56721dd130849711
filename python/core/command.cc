// The whole command in this process, so that its runs can have policies written in Python.
#include <string>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cli/app.h"
#include "core/parts.h"
#include "core/policy_loader.h"
#include "core/watched.h"

namespace muster::python {

void add_command(nb::module_& module) {
  // Ctrl-C is the command's own business while it runs: it keeps what is complete.
  module.def("command",
             [](std::vector<std::string> words, const PythonPolicies& policies, double time_limit) {
               std::vector<char*> pointers;
               for (std::string& word : words) pointers.push_back(word.data());
               pointers.push_back(nullptr);
               int status = 0;
               Watch watch;
               watched(watch, {nb::none(), time_limit, {policies.loader->calls()}}, [&] {
                 status = run_command(static_cast<int>(words.size()), pointers.data());
               });
               return status;
             });
}

}  // namespace muster::python
