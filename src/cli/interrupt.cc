#include "cli/interrupt.h"

#include <atomic>
#include <csignal>
#include <unistd.h>

namespace muster {
namespace {

std::atomic<bool> asked_to_stop{false};

void on_signal(int) {
  asked_to_stop.store(true);
  constexpr char kText[] = "\nmuster: stopping; press Ctrl-C again to stop at once\n";
  // Nothing can be done about a failure to tell.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kText, sizeof kText - 1);
}

}  // namespace

void watch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  // After the first signal the default is back: the second one kills.
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return asked_to_stop.load(std::memory_order_relaxed); }

std::function<bool()> stops_at_interrupt() {
  watch_interrupts();
  return [] { return !interrupted(); };
}

}  // namespace muster
