#include <nanobind/stl/string.h>

#include "core/parts.h"

namespace muster::python {
namespace {

nb::object& policy_error_class() {
  // Never destroyed: the interpreter is gone when statics are.
  static auto* const held = new nb::object;
  return *held;
}

}  // namespace

nb::handle policy_error() { return policy_error_class(); }

void add_errors(nb::module_& module) {
  auto error = nb::exception<MusterError>(module, "Error", PyExc_ValueError);
  error.attr("__doc__") =
      "Something in a description, a file or a table is wrong; the message is the one of the "
      "command.";
  error.attr("__module__") = "muster";
  nb::object made = nb::module_::import_("builtins")
                        .attr("type")("PolicyError", nb::make_tuple(error), nb::dict());
  made.attr("__module__") = "muster";
  made.attr("__doc__") =
      "A policy written in Python raised, took too long or answered nonsense. The message has the "
      "simulated time; __cause__ is what the policy raised, with its traceback.";
  module.attr("PolicyError") = made;
  policy_error_class() = made;
}

}  // namespace muster::python

NB_MODULE(_core, module) {
  namespace python = muster::python;
  module.attr("__doc__") = "Muster's core. The package muster is how it is used.";
  module.attr("version") = MUSTER_VERSION;
  // Policies and traces may still be referred to when the interpreter ends.
  nanobind::set_leak_warnings(false);
  python::add_errors(module);
  python::add_traces(module);
  python::add_clusters(module);
  python::add_views(module);
  python::add_policies(module);
  python::add_descriptions(module);
  python::add_runs(module);
  python::add_results(module);
  python::add_sweeps(module);
  python::add_solvers(module);
  python::add_models(module);
  python::add_stepping(module);
  python::add_turns(module);
  python::add_command(module);
}
