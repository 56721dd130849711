// What a policy written in Python looks at: columns over jobs, and the cluster. They refer to the
// run's own state and are closed when the call is over; whoever kept one is told so.
#pragma once

#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "policy/admission.h"
#include "policy/view.h"

namespace muster::python {

namespace nb = nanobind;

class JobsView {
 public:
  JobsView(const View& view, const std::vector<Slot>& slots, const Symbols* symbols)
      : view_(&view), slots_(&slots), symbols_(symbols) {}
  void close() { view_ = nullptr; }

  std::size_t size() const { return open().second->size(); }
  // The column of that number in job_view_columns(), as bytes.
  nb::bytes column(std::size_t number) const;
  // Steps per second of each job on GPUs of each type, job by job.
  nb::bytes speeds() const;
  nb::list texts(std::size_t number) const;
  // What each job last reported under that name.
  nb::bytes metric(const std::string& name) const;

 private:
  std::pair<const View*, const std::vector<Slot>*> open() const;

  const View* view_;
  const std::vector<Slot>* slots_;
  const Symbols* symbols_;
};

class ClusterView {
 public:
  ClusterView(const ClusterState& cluster, const Symbols* symbols, long long demanded)
      : cluster_(&cluster), symbols_(symbols), demanded_(demanded) {}
  void close() { cluster_ = nullptr; }

  const ClusterState& state() const;
  nb::bytes node_column(std::size_t number) const;
  nb::list node_texts(std::size_t number) const;
  nb::list types() const;
  nb::bytes capacity() const;  // usable GPUs, by type
  long long demanded() const { return demanded_; }

 private:
  const ClusterState* cluster_;
  const Symbols* symbols_;
  long long demanded_;
};

}  // namespace muster::python
