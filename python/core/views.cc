#include "core/views.h"

#include <nanobind/stl/string.h>

#include "core/parts.h"
#include "policy/outside/columns.h"

namespace muster::python {
namespace {

// `value(i)` for every i as the raw numbers of that type.
template <typename Value>
nb::bytes packed(const char* type, std::size_t count, Value value) {
  const std::size_t width = type[0] == '?' ? 1 : 8;
  const nb::object bytes =
      nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(count * width)));
  if (!bytes.is_valid()) throw nb::python_error();
  char* const at = PyBytes_AsString(bytes.ptr());
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
  const JobColumn& column = job_columns()[number];
  const Seconds now = view->now;
  const JobTable& jobs = view->jobs;
  const std::vector<Slot>& list = *slots;
  return packed(column.type, list.size(),
                [&](std::size_t i) { return column.get(jobs[list[i]], now); });
}

nb::bytes JobsView::speeds() const {
  const auto [view, slots] = open();
  return bytes_of(speeds_of(*view, *slots));
}

nb::bytes JobsView::metric(const std::string& name) const {
  const auto [view, slots] = open();
  return bytes_of(metric_of(*view, *slots, name));
}

nb::list JobsView::texts(std::size_t number) const {
  const auto [view, slots] = open();
  nb::list list;
  for (const Slot slot : *slots) {
    list.append(name_of(symbols_, view->jobs[slot].spec.*job_texts()[number].symbol));
  }
  return list;
}

const ClusterState& ClusterView::state() const {
  if (cluster_ == nullptr) closed();
  return *cluster_;
}

nb::bytes ClusterView::node_column(std::size_t number) const {
  const ClusterState& cluster = state();
  const NodeColumn& column = node_columns()[number];
  return packed(column.type, cluster.node_count(), [&](std::size_t i) {
    return column.get(cluster, NodeId{static_cast<std::uint32_t>(i)});
  });
}

nb::list ClusterView::node_texts(std::size_t number) const {
  nb::list list;
  for (const NodeSpec& node : state().spec().nodes) {
    list.append(name_of(symbols_, node.*muster::node_texts()[number].symbol));
  }
  return list;
}

nb::list ClusterView::types() const {
  nb::list list;
  for (const Symbol type : types_of(state())) list.append(name_of(symbols_, type));
  return list;
}

nb::bytes ClusterView::capacity() const { return bytes_of(usable_by_type(state())); }

void add_views(nb::module_& module) {
  nb::class_<JobsView>(module, "JobsView")
      .def("__len__", &JobsView::size)
      .def("column", &JobsView::column)
      .def("speeds", &JobsView::speeds)
      .def("texts", &JobsView::texts)
      .def("metric", &JobsView::metric);
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
    for (const JobColumn& column : job_columns()) {
      list.append(nb::make_tuple(column.name, column.type, column.needs, column.sentence));
    }
    return list;
  });
  module.def("job_view_texts", [] {
    nb::list list;
    for (const JobText& text : job_texts()) list.append(text.name);
    return list;
  });
  module.def("node_columns", [] {
    nb::list list;
    for (const NodeColumn& column : muster::node_columns())
      list.append(nb::make_tuple(column.name, column.type));
    return list;
  });
  module.def("node_texts", [] {
    nb::list list;
    for (const NodeText& text : muster::node_texts()) list.append(text.name);
    return list;
  });
}

}  // namespace muster::python
