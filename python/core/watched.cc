#include "core/watched.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

namespace muster::python {
namespace {

// What the calling thread does now and then. The interpreter must be held.
void look(Watch& watch, const WatchOptions& options,
          std::optional<nb::python_error>& interruption) {
  if (interruption) {
    // The work is to end, but a policy does not come back.
    for (const auto& calls : options.calls) {
      calls->end_longer_than(options.grace, PyExc_KeyboardInterrupt);
    }
    return;
  }
  for (const auto& calls : options.calls) {
    if (options.time_limit > 0) calls->end_longer_than(options.time_limit, PyExc_TimeoutError);
  }
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!options.progress.is_none()) options.progress(watch.progress.load());
  } catch (nb::python_error& error) {
    interruption.emplace(std::move(error));
    watch.stop = true;
  }
}

}  // namespace

void watched(Watch& watch, const WatchOptions& options, const std::function<void()>& work) {
  std::mutex mutex;
  std::condition_variable done;
  bool over = false;
  std::exception_ptr failure;
  std::optional<nb::python_error> interruption;
  {
    const nb::gil_scoped_release release;
    std::thread worker([&] {
      {
        // The thread keeps one state of the interpreter, so that calls of policies need not make
        // one.
        const nb::gil_scoped_acquire state;
        const nb::gil_scoped_release free;
        try {
          work();
        } catch (...) {
          failure = std::current_exception();
        }
      }
      const std::scoped_lock lock(mutex);
      over = true;
      done.notify_one();
    });
    std::unique_lock lock(mutex);
    // The first looks come quickly, so that Ctrl-C in a short loop of short runs is noticed.
    auto pause = std::chrono::milliseconds(5);
    while (!done.wait_for(lock, pause, [&] { return over; })) {
      lock.unlock();
      {
        const nb::gil_scoped_acquire interpreter;
        look(watch, options, interruption);
      }
      lock.lock();
      pause = std::min(2 * pause, std::chrono::milliseconds(80));
    }
    lock.unlock();
    worker.join();
  }
  if (interruption) throw nb::python_error(std::move(*interruption));
  if (failure) std::rethrow_exception(failure);
}

}  // namespace muster::python
