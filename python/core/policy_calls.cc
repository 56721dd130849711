#include "core/policy_calls.h"

#include <algorithm>

#include "core/parts.h"

namespace muster::python {

PolicyCalls::Guard::Guard(PolicyCalls& calls)
    : calls_(calls), thread_(PyThread_get_thread_ident()) {
  const std::scoped_lock lock(calls_.mutex_);
  calls_.calls_.push_back({thread_, std::chrono::steady_clock::now()});
}

PolicyCalls::Guard::~Guard() {
  bool ended_late = false;
  {
    const std::scoped_lock lock(calls_.mutex_);
    const auto call = std::find_if(calls_.calls_.rbegin(), calls_.calls_.rend(),
                                   [this](const Call& one) { return one.thread == thread_; });
    ended_late = call->ended;
    calls_.calls_.erase(std::next(call).base());
  }
  // It returned just before the exception came: nobody else may get it.
  if (ended_late) PyThreadState_SetAsyncExc(thread_, nullptr);
}

bool PolicyCalls::Guard::ended() const {
  const std::scoped_lock lock(calls_.mutex_);
  return std::any_of(calls_.calls_.begin(), calls_.calls_.end(),
                     [this](const Call& one) { return one.thread == thread_ && one.ended; });
}

void PolicyCalls::end_longer_than(double limit, nb::handle exception) {
  const auto now = std::chrono::steady_clock::now();
  const std::scoped_lock lock(mutex_);
  for (Call& call : calls_) {
    if (call.ended || std::chrono::duration<double>(now - call.began).count() < limit) continue;
    call.ended = PyThreadState_SetAsyncExc(call.thread, exception.ptr()) == 1;
  }
}

void PolicyCalls::fail(nb::object exception, const std::string& message) {
  const std::scoped_lock lock(mutex_);
  if (exception_) return;
  exception_.emplace(std::move(exception));
  message_ = message;
}

void PolicyCalls::raise_failure() const {
  const std::scoped_lock lock(mutex_);
  if (!exception_) return;
  const nb::object error = policy_error()(message_.c_str());
  if (!(*exception_)->is_none()) {
    PyException_SetCause(error.ptr(), nb::object(**exception_).release().ptr());
  }
  PyErr_SetObject(policy_error().ptr(), error.ptr());
  throw nb::python_error();
}

}  // namespace muster::python
