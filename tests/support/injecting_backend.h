// A backend in front of another one that adds events of the test's choice: crashes of jobs, broken
// GPUs, late words about jobs long gone.
#pragma once

#include <utility>
#include <vector>

#include "engine/backend.h"

namespace muster {

class InjectingBackend final : public Backend {
 public:
  // `events` by time.
  InjectingBackend(Backend& inner, std::vector<JobEvent> events)
      : inner_(inner), injected_(std::move(events)) {}

  JobProgress act(const Command& command, Seconds now) override { return inner_.act(command, now); }
  bool answers_later() const override { return inner_.answers_later(); }
  void dispatch(std::span<const Order> orders, Seconds now) override {
    inner_.dispatch(orders, now);
  }
  void planned(const Plan& plan) override { inner_.planned(plan); }
  bool checkpoint(Archive& archive) override {
    archive.value(next_);
    return inner_.checkpoint(archive);
  }
  Seconds next_event() override { return std::min(inner_.next_event(), next_injected()); }
  Seconds advance(Seconds until, bool stop_at_event, std::vector<JobEvent>& events) override {
    while (true) {
      const Seconds limit = std::min(until, next_injected());
      const Seconds reached = inner_.advance(limit, stop_at_event, events);
      if (reached < limit || next_injected() > limit) return reached;
      while (next_injected() <= limit) events.push_back(injected_[next_++]);
      if (stop_at_event || reached >= until) return reached;
    }
  }
  std::unique_ptr<Backend> fork() const override { return inner_.fork(); }

 private:
  Seconds next_injected() const {
    return next_ < injected_.size() ? injected_[next_].time : kNever;
  }

  Backend& inner_;
  std::vector<JobEvent> injected_;
  std::size_t next_ = 0;
};

}  // namespace muster
