#include "core/python_policy.h"

#include <array>
#include <set>

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/text.h"
#include "core/policy_loader.h"

namespace muster::python {
namespace {

// In the order of the enumeration.
constexpr std::array<std::string_view, 15> kKnowledge = {
    "duration", "estimate",  "deadline", "priority",      "sizes",
    "scaling",  "gpu_types", "locality", "profile",       "pairs",
    "stages",   "host",      "forecast", "node_forecast", "prices"};

// Needs refer to their texts and are copied about: the few different ones live for ever.
std::string_view kept(const std::string& text) {
  static auto* const texts = new std::set<std::string>;
  return *texts->insert(text).first;
}

std::vector<Need> needs_of(nb::handle adapted) {
  std::vector<Need> needs;
  for (const auto& [name, otherwise] :
       nb::cast<std::vector<std::pair<std::string, std::string>>>(adapted.attr("needs"))) {
    const auto at = std::find(kKnowledge.begin(), kKnowledge.end(), name);
    if (at == kKnowledge.end()) {
      throw MusterError(unknown_name("need", name, {kKnowledge.begin(), kKnowledge.end()}));
    }
    needs.push_back({static_cast<Knowledge>(at - kKnowledge.begin()), kept(otherwise)});
  }
  return needs;
}

// The exception itself. Older Pythons make it from its class when somebody asks, and hang the
// traceback on it then.
nb::object exception_of(nb::python_error& error) {
  error.restore();
#if PY_VERSION_HEX >= 0x030C0000
  return nb::steal(PyErr_GetRaisedException());
#else
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback != nullptr) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return nb::steal(value);
#endif
}

// "ValueError: no such job", and the lines of the policy's own code that led there.
std::string told(nb::handle exception) {
  const nb::object traceback = nb::module_::import_("traceback");
  std::string text;
  for (const nb::handle line : traceback.attr("format_exception")(
           exception.type(), exception, nb::getattr(exception, "__traceback__", nb::none()))) {
    text += nb::cast<std::string>(line);
  }
  return std::string(trim(text));
}

}  // namespace

PythonPolicy::PythonPolicy(const char* kind, std::string name, nb::object adapted,
                           const Symbols* symbols, std::shared_ptr<PolicyCalls> calls)
    : kind_(kind),
      name_(std::move(name)),
      adapted_(adapted),
      call_holder_(adapted.attr("call")),
      call_(*call_holder_),
      symbols_(symbols),
      calls_(std::move(calls)),
      needs_(needs_of(adapted)) {}

bool PythonPolicy::flag(const char* attribute) const {
  const nb::gil_scoped_acquire interpreter;
  return nb::cast<bool>(adapted_->attr(attribute));
}
double PythonPolicy::number(const char* attribute) const {
  const nb::gil_scoped_acquire interpreter;
  return nb::cast<double>(adapted_->attr(attribute));
}
std::string PythonPolicy::form() const {
  const nb::gil_scoped_acquire interpreter;
  return nb::cast<std::string>(adapted_->attr("form"));
}

PythonPolicy PythonPolicy::copy() const {
  const nb::gil_scoped_acquire interpreter;
  try {
    return {kind_.c_str(), name_, adapted_->attr("copy")(), symbols_, calls_};
  } catch (nb::python_error& error) {
    const nb::object exception = exception_of(error);
    const std::string message =
        fmt::format("{} policy '{}' cannot be copied: {}", kind_, name_, told(exception));
    calls_->fail(exception, message);
    throw PolicyFailure(message);
  }
}

void PythonPolicy::bad(Seconds now, const std::string& what) const {
  const std::string message = fmt::format("{} policy '{}' at {} s: {}", kind_, name_, now, what);
  calls_->fail(nb::none(), message);
  throw PolicyFailure(message);
}

void PythonPolicy::fail(Seconds now, nb::python_error& error, bool ended) const {
  const nb::object exception = exception_of(error);
  const std::string message = fmt::format("{} policy '{}' {} at {} s:\n{}", kind_, name_,
                                          ended ? "was ended" : "raised", now, told(exception));
  calls_->fail(exception, message);
  throw PolicyFailure(message);
}

bool PythonLoader::knows(std::string_view kind, std::string_view name) const {
  const bool has_form = kind == "admission" || kind == "scheduling" || kind == "placement";
  return has_form &&
         (names_python(name) || names_.contains({std::string(kind), std::string(name)}));
}

template <typename Policy, typename Make>
Result<std::unique_ptr<Policy>> PythonLoader::made(const char* kind, const Choice& choice,
                                                   const Make& make) const {
  const nb::gil_scoped_acquire interpreter;
  try {
    nb::dict params;
    for (const auto& [key, value] : choice.params) params[key.c_str()] = value;
    return make(nb::object((*resolve_)(kind, choice.name, params)));
  } catch (nb::python_error& error) {
    // What resolve() itself found wrong needs no traceback.
    const nb::object exception = exception_of(error);
    const bool ours = nb::isinstance(exception, nb::handle(policy_error().attr("__mro__")[1]));
    const std::string what = ours ? nb::cast<std::string>(nb::str(exception)) : told(exception);
    const std::string message = fmt::format("{} policy '{}': {}", kind, choice.name, what);
    calls_->fail(exception, message);
    return Error{message};
  } catch (const MusterError& error) {
    return Error{fmt::format("{} policy '{}': {}", kind, choice.name, error.what())};
  }
}

Result<std::unique_ptr<AdmissionPolicy>> PythonLoader::admission(const Choice& choice,
                                                                 const Symbols* symbols) const {
  return made<AdmissionPolicy>("admission", choice, [&](nb::object adapted) {
    return make_python_admission({"admission", choice.name, std::move(adapted), symbols, calls_});
  });
}

Result<std::unique_ptr<SchedulingPolicy>> PythonLoader::scheduling(const Choice& choice,
                                                                   const Symbols* symbols) const {
  return made<SchedulingPolicy>("scheduling", choice, [&](nb::object adapted) {
    return make_python_scheduling({"scheduling", choice.name, std::move(adapted), symbols, calls_});
  });
}

Result<std::unique_ptr<PlacementPolicy>> PythonLoader::placement(const Choice& choice,
                                                                 const Symbols* symbols) const {
  return made<PlacementPolicy>("placement", choice, [&](nb::object adapted) {
    return make_python_placement({"placement", choice.name, std::move(adapted), symbols, calls_});
  });
}

void add_policies(nb::module_& module) {
  nb::class_<PythonPolicies>(module, "PythonPolicies")
      .def("__init__", [](PythonPolicies* self, nb::object resolve,
                          std::set<std::pair<std::string, std::string>> names) {
        new (self) PythonPolicies{
            std::make_shared<PythonLoader>(Held(std::move(resolve)), std::move(names))};
      });
  module.def("knowledge",
             [] { return std::vector<std::string>(kKnowledge.begin(), kKnowledge.end()); });
  // Descriptions without policies of their own, as the command makes them, find FILE.py:NAME too.
  module.def("use_for_files",
             [](const PythonPolicies& policies) { set_usual_policy_loader(policies.loader); });
}

}  // namespace muster::python
