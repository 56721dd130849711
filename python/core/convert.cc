#include "core/convert.h"

#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "core/parts.h"
#include "core/policy_loader.h"
#include "core/trace.h"
#include "run/config/load_config.h"
#include "run/sweep/sweep.h"

namespace muster::python {
namespace {

TomlNode scalar(TomlNode::Kind kind, std::string text) {
  TomlNode node;
  node.kind = kind;
  node.text = std::move(text);
  return node;
}

std::string text_of(nb::handle value) { return nb::cast<std::string>(nb::str(value)); }

TomlNode table_of(nb::handle value, const std::string& where) {
  TomlNode node;
  for (const auto& [key, member] : nb::borrow<nb::dict>(value)) {
    if (member.is_none()) continue;
    const std::string name = text_of(key);
    node.members.push_back({name, toml_of(member, where + "." + name)});
  }
  return node;
}

}  // namespace

TomlNode toml_of(nb::handle value, const std::string& where) {
  PyObject* const object = value.ptr();
  if (PyBool_Check(object)) {
    return scalar(TomlNode::Kind::kFlag, object == Py_True ? "true" : "false");
  }
  if (PyUnicode_Check(object)) return scalar(TomlNode::Kind::kText, nb::cast<std::string>(value));
  if (PyFloat_Check(object)) {
    return scalar(TomlNode::Kind::kReal, toml_number(PyFloat_AsDouble(object)));
  }
  // Whole numbers, those of NumPy included.
  if (PyIndex_Check(object)) {
    const nb::object whole = nb::steal(PyNumber_Index(object));
    if (!whole.is_valid()) throw nb::python_error();
    return scalar(TomlNode::Kind::kInteger, text_of(whole));
  }
  if (PyDict_Check(object)) return table_of(value, where);
  if (nb::hasattr(value, "__fspath__")) {
    return scalar(TomlNode::Kind::kText, text_of(value.attr("__fspath__")()));
  }
  if (PyList_Check(object) || PyTuple_Check(object)) {
    TomlNode node;
    node.kind = TomlNode::Kind::kArray;
    for (const nb::handle item : value) node.items.push_back(toml_of(item, where));
    return node;
  }
  throw MusterError(fmt::format("{} is a {}, expected a text, number, flag, list or dict", where,
                                text_of(value.type().attr("__name__"))));
}

RunConfig described(const nb::dict& settings, std::shared_ptr<const PolicyLoader> loader) {
  ConfigLayers layers;
  for (const auto& [key, value] : settings) {
    if (value.is_none()) continue;
    const std::string name = text_of(key);
    if (name == "preset") {
      layers.preset = text_of(value);
    } else if (name == "file") {
      layers.file = text_of(value);
    } else {
      layers.settings.push_back({toml_at(name, toml_of(value, name)), name});
    }
  }
  RunConfig config = must(load_config(layers));
  if (loader != nullptr) config.loader = std::move(loader);
  return config;
}

namespace {

// A description that was checked and completed: what a run is made of. With a seed it is a point of
// a sweep, in which everything that draws follows that seed.
RunConfig complete(const nb::dict& settings, const TraceJobs* trace, const PythonPolicies* policies,
                   std::optional<long long> seed) {
  const std::shared_ptr<const PolicyLoader> outside =
      policies == nullptr ? nullptr : policies->loader;
  RunConfig config = described(settings, outside);
  if (trace != nullptr) {
    if (trace->origin) {
      config.workload = *trace->origin;
    } else if (config.workload.trace.empty()) {
      config.workload = {};
      config.workload.trace = "in memory";
    }
  }
  if (!seed) return must(complete_config(std::move(config)));
  SweepConfig sweep;
  sweep.base = std::move(config);
  sweep.seeds = {*seed};
  return std::move(must(sweep_points(sweep)).front().config);
}

}  // namespace

void add_descriptions(nb::module_& module) {
  nb::class_<RunConfig>(module, "Description")
      .def_prop_ro("toml", [](const RunConfig& config) { return to_toml(config); })
      .def_prop_ro("label", [](const RunConfig& config) { return config.label(); })
      .def_prop_ro("doubt", [](const RunConfig& config) { return doubt_about(config); })
      .def_rw("name", &RunConfig::name)
      .def_prop_ro("endless", [](const RunConfig& config) { return endless(config.workload); })
      .def_prop_ro("stream", [](const RunConfig& config) { return config.workload.stream; });
  // What a description that is not complete yet chooses, as on the command line.
  module.def("chosen", [](const nb::dict& settings, const std::string& kind) {
    const RunConfig config = described(settings, {});
    return (kind == "placement"   ? config.placement
            : kind == "admission" ? config.admission
                                  : config.scheduling)
        .text();
  });
  // A plug-in as on the command line, taken apart.
  module.def("parts_of_choice", [](const std::string& text, const std::string& what) {
    const Choice choice = must(parse_choice(text, what));
    nb::dict parts;
    parts["name"] = choice.name;
    for (const auto& [key, value] : choice.params) parts[key.c_str()] = value;
    return parts;
  });
  module.def("describe", complete, nb::arg("settings"), nb::arg("trace").none(),
             nb::arg("policies").none(), nb::arg("seed").none());
}

}  // namespace muster::python
