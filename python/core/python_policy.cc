#include "core/python_policy.h"

#include <set>

#include <fmt/format.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/text.h"
#include "core/policy_loader.h"
#include "core/views.h"
#include "policy/failure.h"
#include "policy/outside/columns.h"

namespace muster::python {
namespace {

std::shared_ptr<const Declared> declaration_of(nb::handle adapted) {
  auto declared = std::make_shared<Declared>();
  declared->form = nb::cast<std::string>(adapted.attr("form"));
  for (const DeclaredFlag& flag : declared_flags()) {
    (*declared).*flag.value = nb::cast<bool>(adapted.attr(flag.name));
  }
  for (const DeclaredNumber& number : declared_numbers()) {
    (*declared).*number.value = nb::cast<double>(adapted.attr(number.name));
  }
  for (const auto& [name, otherwise] :
       nb::cast<std::vector<std::pair<std::string, std::string>>>(adapted.attr("needs"))) {
    declared->needs.push_back(must(need_named(name, otherwise)));
  }
  return declared;
}

// Closes a view when the call is over, whatever Python keeps of it.
template <typename V>
class Lent {
 public:
  template <typename... Args>
  explicit Lent(const Args&... args)
      : object_(nb::cast(V(args...))), view_(nb::inst_ptr<V>(object_)) {}
  ~Lent() { view_->close(); }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  const nb::object& operator*() const { return object_; }

 private:
  nb::object object_;
  V* view_;
};

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

PythonRespondent::PythonRespondent(const char* kind, std::string name, nb::object adapted,
                                   const Symbols* symbols, std::shared_ptr<PolicyCalls> calls)
    : kind_(kind),
      name_(std::move(name)),
      adapted_(adapted),
      call_holder_(adapted.attr("call")),
      call_(*call_holder_),
      symbols_(symbols),
      calls_(std::move(calls)),
      declared_(declaration_of(adapted)) {}

void PythonRespondent::ask(const PolicyQuestion& question, PolicyAnswer& answer) {
  const nb::gil_scoped_acquire interpreter;
  PolicyCalls::Guard guard(*calls_);
  answer.clear();
  try {
    read(call(question), answer);
  } catch (nb::python_error& error) {
    fail(question.now, error, guard.finish());
  } catch (const MusterError& error) {
    guard.finish();
    bad(question.now, error.what());
  }
  if (guard.finish()) bad(question.now, "was ended from outside");
}

nb::object PythonRespondent::call(const PolicyQuestion& question) const {
  if (question.problem != nullptr) {
    const ProblemColumns columns(*question.problem);
    return call_(bytes_of(columns.rates), bytes_of(columns.jobs), bytes_of(columns.capacity),
                 bytes_of(columns.price), question.now);
  }
  const Lent<JobsView> jobs(*question.view, *question.slots, symbols_);
  const Lent<ClusterView> cluster(*question.cluster, symbols_, question.demanded);
  if (declared_->form == "find") return call_(*jobs, *cluster, question.now, question.gpus);
  return call_(*jobs, *cluster, question.now);
}

void PythonRespondent::read(nb::handle given, PolicyAnswer& answer) const {
  const std::string& form = declared_->form;
  if (form == "admit") {
    answer.word = nb::cast<std::string>(given);
  } else if (given.is_none()) {
    answer.nothing = true;
  } else if (form == "order" || form == "allocate" || form == "find") {
    const Numbers<std::int64_t> list(given);
    answer.integers.assign(list.begin(), list.end());
  } else {
    const Numbers<double> list(given);
    answer.numbers.assign(list.begin(), list.end());
  }
}

std::unique_ptr<Respondent> PythonRespondent::copy() const {
  const nb::gil_scoped_acquire interpreter;
  try {
    return std::make_unique<PythonRespondent>(kind_, name_, adapted_->attr("copy")(), symbols_,
                                              calls_);
  } catch (nb::python_error& error) {
    const nb::object exception = exception_of(error);
    const std::string message =
        fmt::format("{} policy '{}' cannot be copied: {}", kind_, name_, told(exception));
    calls_->fail(exception, message);
    throw PolicyFailure(message);
  }
}

void PythonRespondent::bad(Seconds now, const std::string& what) {
  const nb::gil_scoped_acquire interpreter;
  const std::string message = fmt::format("{} policy '{}' at {} s: {}", kind_, name_, now, what);
  calls_->fail(nb::none(), message);
  throw PolicyFailure(message);
}

void PythonRespondent::fail(Seconds now, nb::python_error& error, bool ended) {
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

std::shared_ptr<PolicyCalls> python_calls(const RunConfig& run) {
  const auto* loader = dynamic_cast<const PythonLoader*>(run.loader.get());
  if (loader == nullptr) return nullptr;
  const std::pair<const char*, const Choice*> choices[] = {{"scheduling", &run.scheduling},
                                                           {"placement", &run.placement},
                                                           {"admission", &run.admission}};
  for (const auto& [kind, choice] : choices) {
    // A policy may name others among its parameters.
    if (loader->knows(kind, choice->name) || choice->text().find(".py:") != std::string::npos) {
      return loader->calls();
    }
  }
  return nullptr;
}

Outside PythonLoader::respondent(const char* kind, const Choice& choice, nb::object adapted,
                                 const Symbols* symbols) const {
  return Outside(
      std::make_unique<PythonRespondent>(kind, choice.name, std::move(adapted), symbols, calls_));
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
    return make_outside_admission(respondent("admission", choice, std::move(adapted), symbols),
                                  OnFailure::kEndRun);
  });
}

Result<std::unique_ptr<SchedulingPolicy>> PythonLoader::scheduling(const Choice& choice,
                                                                   const Symbols* symbols) const {
  return made<SchedulingPolicy>("scheduling", choice, [&](nb::object adapted) {
    return make_outside_scheduling(respondent("scheduling", choice, std::move(adapted), symbols),
                                   OnFailure::kEndRun);
  });
}

Result<std::unique_ptr<PlacementPolicy>> PythonLoader::placement(const Choice& choice,
                                                                 const Symbols* symbols) const {
  return made<PlacementPolicy>("placement", choice, [&](nb::object adapted) {
    return make_outside_placement(respondent("placement", choice, std::move(adapted), symbols),
                                  OnFailure::kEndRun);
  });
}

void add_policies(nb::module_& module) {
  nb::class_<PythonPolicies>(module, "PythonPolicies")
      .def("__init__", [](PythonPolicies* self, nb::object resolve,
                          std::set<std::pair<std::string, std::string>> names) {
        new (self) PythonPolicies{
            std::make_shared<PythonLoader>(Held(std::move(resolve)), std::move(names))};
      });
  module.def("knowledge", [] {
    return std::vector<std::string>(knowledge_names().begin(), knowledge_names().end());
  });
  // Descriptions without policies of their own, as the command makes them, find FILE.py:NAME too.
  module.def("use_for_files",
             [](const PythonPolicies& policies) { set_usual_policy_loader(policies.loader); });
}

}  // namespace muster::python
