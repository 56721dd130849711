#include "core/policy_calls.h"

#include <algorithm>

#include "core/parts.h"

namespace muster::python {

PolicyCalls::Guard::Guard(PolicyCalls& calls)
    : calls_(calls), thread_(PyThread_get_thread_ident()) {
  const std::scoped_lock lock(calls_.mutex_);
  calls_.calls_.push_back({thread_, std::chrono::steady_clock::now()});
}

PolicyCalls::Guard::~Guard() { finish(); }

bool PolicyCalls::Guard::finish() {
  if (finished_) return false;
  finished_ = true;
  bool ended = false;
  {
    const std::scoped_lock lock(calls_.mutex_);
    const auto call = std::find_if(calls_.calls_.rbegin(), calls_.calls_.rend(),
                                   [this](const Call& one) { return one.thread == thread_; });
    ended = call->ended.has_value();
    calls_.calls_.erase(std::next(call).base());
  }
  // It may have returned just before the exception came: nobody else may get it.
  if (ended) PyThreadState_SetAsyncExc(thread_, nullptr);
  return ended;
}

void PolicyCalls::end_longer_than(double limit, nb::handle exception) {
  // Time to clean up, before it is told again.
  constexpr double kAgain = 0.5;
  const auto now = std::chrono::steady_clock::now();
  const auto since = [now](std::chrono::steady_clock::time_point then) {
    return std::chrono::duration<double>(now - then).count();
  };
  const std::scoped_lock lock(mutex_);
  for (Call& call : calls_) {
    if (call.ended ? since(*call.ended) < kAgain : since(call.began) < limit) continue;
    PyObject* const raised = call.ended ? PyExc_KeyboardInterrupt : exception.ptr();
    if (PyThreadState_SetAsyncExc(call.thread, raised) == 1) call.ended = now;
  }
}

void PolicyCalls::fail(nb::object exception, const std::string& message) {
  const std::scoped_lock lock(mutex_);
  if (exception_) return;
  exception_.emplace(std::move(exception));
  message_ = message;
}

void PolicyCalls::raise_failure() {
  std::optional<Held> exception;
  nb::object error;
  {
    const std::scoped_lock lock(mutex_);
    if (!exception_) return;
    exception.swap(exception_);
    error = policy_error()(message_.c_str());
  }
  if (!(*exception)->is_none()) {
    PyException_SetCause(error.ptr(), nb::object(**exception).release().ptr());
  }
  PyErr_SetObject(policy_error().ptr(), error.ptr());
  throw nb::python_error();
}

}  // namespace muster::python
