// The parts of the module muster._core: thin bindings of the C++ libraries. What a user sees is
// written in Python, in python/muster; nothing here decides anything.
#pragma once

#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "base/result.h"

namespace muster::python {

namespace nb = nanobind;

void add_errors(nb::module_& module);
void add_traces(nb::module_& module);
void add_clusters(nb::module_& module);
void add_descriptions(nb::module_& module);
void add_policies(nb::module_& module);
void add_views(nb::module_& module);
void add_runs(nb::module_& module);
void add_sweeps(nb::module_& module);
void add_results(nb::module_& module);
void add_solvers(nb::module_& module);
void add_models(nb::module_& module);
void add_stepping(nb::module_& module);
void add_turns(nb::module_& module);
void add_command(nb::module_& module);

// Becomes muster.Error, with the same message.
struct MusterError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] inline void raise(const Error& error) { throw MusterError(error.message); }

template <typename T>
T must(Result<T> result) {
  if (!result) raise(result.error());
  return std::move(*result);
}
inline void must(const Status& status) {
  if (!status) raise(status.error());
}

// The class muster.PolicyError.
nb::handle policy_error();

// Numbers as bytes: Python makes a NumPy array of them without a copy.
template <typename T>
nb::bytes bytes_of(const std::vector<T>& values) {
  return nb::bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// The other way round: what `value` holds, a bytes-like object of `T`s.
template <typename T>
class Numbers {
 public:
  explicit Numbers(nb::handle value) {
    if (PyObject_GetBuffer(value.ptr(), &buffer_, PyBUF_C_CONTIGUOUS) != 0) {
      throw nb::python_error();
    }
  }
  ~Numbers() { PyBuffer_Release(&buffer_); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;

  std::size_t size() const { return static_cast<std::size_t>(buffer_.len) / sizeof(T); }
  T operator[](std::size_t i) const { return static_cast<const T*>(buffer_.buf)[i]; }
  const T* begin() const { return static_cast<const T*>(buffer_.buf); }
  const T* end() const { return begin() + size(); }

 private:
  Py_buffer buffer_{};
};

}  // namespace muster::python
