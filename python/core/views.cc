#include "core/views.h"

#include <algorithm>

#include <nanobind/stl/string.h>

#include "core/parts.h"
#include "policy/gavel/problem.h"

namespace muster::python {
namespace {

struct JobColumn {
  const char* name;
  const char* type;   // as NumPy names it
  const char* needs;  // what a policy must declare that reads it; empty: nothing
  const char* sentence;
  double (*get)(const Job&, Seconds now);
};

constexpr JobColumn kColumns[] = {
    {"id", "i8", "", "the job's number, in order of arrival",
     [](const Job& job, Seconds) { return static_cast<double>(index(job.spec.id)); }},
    {"submit", "f8", "", "when it was submitted",
     [](const Job& job, Seconds) { return job.spec.submit; }},
    {"gpus", "i8", "", "GPUs asked for",
     [](const Job& job, Seconds) { return static_cast<double>(job.spec.gpus); }},
    {"min_gpus", "i8", "", "fewest GPUs it runs on",
     [](const Job& job, Seconds) {
       return static_cast<double>(job.spec.elastic() ? std::max(1, job.spec.min_gpus)
                                                     : job.spec.gpus);
     }},
    {"max_gpus", "i8", "", "most GPUs it runs on",
     [](const Job& job, Seconds) {
       return static_cast<double>(job.spec.elastic() ? job.spec.max_gpus : job.spec.gpus);
     }},
    {"priority", "i8", "", "larger is more important",
     [](const Job& job, Seconds) { return static_cast<double>(job.spec.priority); }},
    {"running", "?", "", "whether it holds GPUs",
     [](const Job& job, Seconds) { return job.running() ? 1.0 : 0.0; }},
    {"held", "i8", "", "GPUs that it holds now",
     [](const Job& job, Seconds) { return static_cast<double>(job.gpus.gpus()); }},
    {"attained", "f8", "", "seconds for which it has held GPUs",
     [](const Job& job, Seconds now) { return job.attained_at(now); }},
    {"gpu_seconds", "f8", "", "GPU-seconds that it has held",
     [](const Job& job, Seconds now) { return job.gpu_seconds_at(now); }},
    {"waiting", "f8", "", "seconds of its present wait; 0 while it runs",
     [](const Job& job, Seconds now) { return job.running() ? 0.0 : now - job.waiting_since; }},
    {"queueing", "f8", "", "seconds without GPUs, all its waits together",
     [](const Job& job, Seconds now) {
       return job.waited_before + (job.running() ? 0.0 : now - job.waiting_since);
     }},
    {"age", "f8", "", "seconds since it was submitted",
     [](const Job& job, Seconds now) { return now - job.spec.submit; }},
    {"admitted", "f8", "", "when it was admitted",
     [](const Job& job, Seconds) { return job.admitted; }},
    {"first_start", "f8", "", "when it first ran; inf if it never did",
     [](const Job& job, Seconds) { return job.first_start; }},
    {"preemptions", "i8", "", "times it lost its GPUs to another job",
     [](const Job& job, Seconds) { return static_cast<double>(job.preemptions); }},
    {"done", "f8", "", "seconds of undisturbed run that it has done",
     [](const Job& job, Seconds now) { return job.work_at(now); }},
    {"deadline", "f8", "", "when it should be done; inf: whenever",
     [](const Job& job, Seconds) { return job.spec.deadline; }},
    {"value", "f8", "", "what meeting the deadline is worth",
     [](const Job& job, Seconds) { return job.spec.value; }},
    {"cpus", "f8", "", "CPU cores for the whole job; 0: the fair share",
     [](const Job& job, Seconds) { return job.spec.cpus; }},
    {"memory_gb", "f8", "", "memory for the whole job; 0: the fair share",
     [](const Job& job, Seconds) { return job.spec.memory_gb; }},
    {"iterations", "f8", "", "training steps; 0: unknown",
     [](const Job& job, Seconds) { return job.spec.iterations; }},
    {"estimate", "f8", "estimate", "the believed duration; 0: unknown",
     [](const Job& job, Seconds) { return job.spec.estimate; }},
    {"duration", "f8", "duration", "the true duration, undisturbed and as asked for",
     [](const Job& job, Seconds) { return job.total_work; }},
    {"remaining", "f8", "duration", "seconds of undisturbed run that are left",
     [](const Job& job, Seconds now) { return job.remaining_at(now); }},
    {"steps_left", "f8", "duration", "training steps that are left",
     [](const Job& job, Seconds now) { return steps_left(job, now); }},
};

struct JobText {
  const char* name;
  Symbol JobSpec::*symbol;
};
constexpr JobText kJobTexts[] = {
    {"user", &JobSpec::user},
    {"model", &JobSpec::model},
    {"partition", &JobSpec::partition},
    {"gpu_type", &JobSpec::gpu_type},
};

struct NodeColumn {
  const char* name;
  const char* type;
  double (*get)(const ClusterState&, NodeId);
};
constexpr NodeColumn kNodes[] = {
    {"free", "i8", [](const ClusterState& c, NodeId n) { return double(c.free_on(n)); }},
    {"usable", "i8", [](const ClusterState& c, NodeId n) { return double(c.usable_on(n)); }},
    {"gpus", "i8", [](const ClusterState& c, NodeId n) { return double(c.node(n).gpus); }},
    {"up", "?", [](const ClusterState& c, NodeId n) { return c.up(n) ? 1.0 : 0.0; }},
    {"rack", "i8", [](const ClusterState& c, NodeId n) { return double(c.node(n).rack); }},
    {"free_cpus", "f8", [](const ClusterState& c, NodeId n) { return c.free_cpus(n); }},
    {"free_memory_gb", "f8", [](const ClusterState& c, NodeId n) { return c.free_memory(n); }},
};
struct NodeText {
  const char* name;
  Symbol NodeSpec::*symbol;
};
constexpr NodeText kNodeTexts[] = {
    {"name", &NodeSpec::name},
    {"gpu_type", &NodeSpec::gpu_type},
    {"partition", &NodeSpec::partition},
};

// `value(i)` for every i as the raw numbers of that type.
template <typename Value>
nb::bytes packed(const char* type, std::size_t count, Value value) {
  const std::size_t width = type[0] == '?' ? 1 : 8;
  const nb::object bytes =
      nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(count * width)));
  if (!bytes.is_valid()) throw nb::python_error();
  char* const at = PyBytes_AS_STRING(bytes.ptr());
  for (std::size_t i = 0; i < count; ++i) {
    if (type[0] == 'f') {
      reinterpret_cast<double*>(at)[i] = value(i);
    } else if (type[0] == 'i') {
      reinterpret_cast<std::int64_t*>(at)[i] = static_cast<std::int64_t>(value(i));
    } else {
      at[i] = value(i) != 0 ? 1 : 0;
    }
  }
  return nb::borrow<nb::bytes>(bytes);
}

[[noreturn]] void closed() {
  throw MusterError(
      "this view is of an earlier decision: read columns while the policy is being asked, and keep "
      "the arrays instead of the view");
}

nb::str name_of(const Symbols* symbols, Symbol symbol) {
  return nb::str(symbols == nullptr ? "" : symbols->text(symbol).c_str());
}

}  // namespace

std::pair<const View*, const std::vector<Slot>*> JobsView::open() const {
  if (view_ == nullptr) closed();
  return {view_, slots_};
}

nb::bytes JobsView::column(std::size_t number) const {
  const auto [view, slots] = open();
  const JobColumn& column = kColumns[number];
  const Seconds now = view->now;
  const JobTable& jobs = view->jobs;
  const std::vector<Slot>& list = *slots;
  return packed(column.type, list.size(),
                [&](std::size_t i) { return column.get(jobs[list[i]], now); });
}

nb::bytes JobsView::speeds() const {
  const auto [view, slots] = open();
  const std::vector<Symbol> types = types_of(view->cluster);
  std::vector<double> speeds;
  speeds.reserve(slots->size() * types.size());
  for (const Slot slot : *slots) {
    for (const Symbol type : types) {
      speeds.push_back(rate_on(view->perf, view->jobs[slot].spec, type, nullptr));
    }
  }
  return bytes_of(speeds);
}

nb::list JobsView::texts(std::size_t number) const {
  const auto [view, slots] = open();
  nb::list list;
  for (const Slot slot : *slots) {
    list.append(name_of(symbols_, view->jobs[slot].spec.*kJobTexts[number].symbol));
  }
  return list;
}

const ClusterState& ClusterView::state() const {
  if (cluster_ == nullptr) closed();
  return *cluster_;
}

nb::bytes ClusterView::node_column(std::size_t number) const {
  const ClusterState& cluster = state();
  const NodeColumn& column = kNodes[number];
  return packed(column.type, cluster.node_count(), [&](std::size_t i) {
    return column.get(cluster, NodeId{static_cast<std::uint32_t>(i)});
  });
}

nb::list ClusterView::node_texts(std::size_t number) const {
  nb::list list;
  for (const NodeSpec& node : state().spec().nodes) {
    list.append(name_of(symbols_, node.*kNodeTexts[number].symbol));
  }
  return list;
}

std::vector<Symbol> types_of(const ClusterState& cluster) {
  std::vector<Symbol> types = type_columns(cluster);
  std::reverse(types.begin(), types.end());
  return types;
}

nb::list ClusterView::types() const {
  nb::list list;
  for (const Symbol type : types_of(state())) list.append(name_of(symbols_, type));
  return list;
}

nb::bytes ClusterView::capacity() const {
  const std::vector<Symbol> types = types_of(state());
  std::vector<std::int64_t> usable(types.size(), 0);
  for (const Pool& pool : state().pools()) {
    const auto at = std::find(types.begin(), types.end(), pool.gpu_type) - types.begin();
    usable[static_cast<std::size_t>(at)] += pool.usable;
  }
  return bytes_of(usable);
}

void add_views(nb::module_& module) {
  nb::class_<JobsView>(module, "JobsView")
      .def("__len__", &JobsView::size)
      .def("column", &JobsView::column)
      .def("speeds", &JobsView::speeds)
      .def("texts", &JobsView::texts);
  nb::class_<ClusterView>(module, "ClusterView")
      .def("node_column", &ClusterView::node_column)
      .def("node_texts", &ClusterView::node_texts)
      .def("types", &ClusterView::types)
      .def("capacity", &ClusterView::capacity)
      .def_prop_ro("demanded_gpus", &ClusterView::demanded)
      .def_prop_ro("free_gpus", [](const ClusterView& c) { return c.state().free_gpus(); })
      .def_prop_ro("usable_gpus", [](const ClusterView& c) { return c.state().usable_gpus(); });
  module.def("job_view_columns", [] {
    nb::list list;
    for (const JobColumn& column : kColumns) {
      list.append(nb::make_tuple(column.name, column.type, column.needs, column.sentence));
    }
    return list;
  });
  module.def("job_view_texts", [] {
    nb::list list;
    for (const JobText& text : kJobTexts) list.append(text.name);
    return list;
  });
  module.def("node_columns", [] {
    nb::list list;
    for (const NodeColumn& column : kNodes) list.append(nb::make_tuple(column.name, column.type));
    return list;
  });
  module.def("node_texts", [] {
    nb::list list;
    for (const NodeText& text : kNodeTexts) list.append(text.name);
    return list;
  });
}

}  // namespace muster::python
