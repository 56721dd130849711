// The active jobs: dense slots, recycled, threaded on two lists in order of arrival (all of them,
// and those that wait). Its size follows the jobs that are active, never the length of the trace.
#pragma once

#include <cassert>
#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

#include "model/job.h"

namespace muster {

class Archive;

// Jobs of one list, ascending by id.
class SlotList {
 public:
  class Iterator {
   public:
    using value_type = Slot;
    using iterator_category = std::forward_iterator_tag;
    using pointer = const Slot*;
    using reference = Slot;
    using difference_type = std::ptrdiff_t;
    Iterator(const std::vector<Slot>* next, Slot at) : next_(next), at_(at) {}
    Slot operator*() const { return at_; }
    Iterator& operator++() {
      at_ = (*next_)[index(at_)];
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    const std::vector<Slot>* next_;
    Slot at_;
  };

  Iterator begin() const { return {&next_, first_}; }
  Iterator end() const { return {&next_, kNoSlot}; }
  bool empty() const { return first_ == kNoSlot; }
  std::size_t size() const { return size_; }
  Slot front() const { return first_; }
  // Whether what was read from an archive is a list, of a table with so many slots.
  bool sound(std::size_t slots) const;

 private:
  friend class JobTable;
  friend void checkpoint(Archive& archive, SlotList& list);
  void grow(std::size_t slots) {
    next_.resize(slots, kNoSlot);
    previous_.resize(slots, kNoSlot);
  }
  void insert_after(Slot where, Slot slot) {
    const Slot next = where == kNoSlot ? first_ : next_[index(where)];
    next_[index(slot)] = next;
    previous_[index(slot)] = where;
    (where == kNoSlot ? first_ : next_[index(where)]) = slot;
    (next == kNoSlot ? last_ : previous_[index(next)]) = slot;
    ++size_;
  }
  void erase(Slot slot) {
    const Slot next = next_[index(slot)];
    const Slot previous = previous_[index(slot)];
    (previous == kNoSlot ? first_ : next_[index(previous)]) = next;
    (next == kNoSlot ? last_ : previous_[index(next)]) = previous;
    --size_;
  }

  std::vector<Slot> next_;
  std::vector<Slot> previous_;
  Slot first_ = kNoSlot;
  Slot last_ = kNoSlot;
  std::size_t size_ = 0;
};

void checkpoint(Archive& archive, SlotList& list);

class JobTable {
 public:
  Job& operator[](Slot slot) { return jobs_[index(slot)]; }
  const Job& operator[](Slot slot) const { return jobs_[index(slot)]; }
  // Slots ever used: arrays indexed by slot need this length.
  std::size_t slots() const { return jobs_.size(); }

  const SlotList& active() const { return active_; }  // admitted: waiting and running
  const SlotList& running() const { return running_; }
  const SlotList& waiting() const { return waiting_; }  // admitted, without GPUs

  Slot add(const JobSpec& spec) {
    if (vacant_.empty()) {
      vacant_.push_back(Slot{static_cast<std::uint32_t>(jobs_.size())});
      jobs_.emplace_back();
      active_.grow(jobs_.size());
      running_.grow(jobs_.size());
      waiting_.grow(jobs_.size());
    }
    const Slot slot = vacant_.back();
    vacant_.pop_back();
    Job& job = jobs_[index(slot)];
    std::destroy_at(&job);  // made anew where it stays: a job is large
    ::new (static_cast<void*>(&job)) Job{.spec = spec};
    job.self = slot;
    job.next_co_located = slot;
    return slot;
  }
  void remove(Slot slot) { vacant_.push_back(slot); }

  // The job of this number among those that are active; `hint` is where it is likely to live.
  Slot find(JobId id, Slot hint = kNoSlot) const {
    if (index(hint) < jobs_.size() && jobs_[index(hint)].spec.id == id) return hint;
    for (const Slot slot : active_) {
      if (jobs_[index(slot)].spec.id == id) return slot;
    }
    return kNoSlot;
  }

  // Moves the job through its life cycle and keeps the lists in step.
  void set_state(Slot slot, JobState to) {
    Job& job = jobs_[index(slot)];
    assert(may_follow(job.state, to) && "the life cycle of a job has no such step");
    const bool was_running = job.running();
    const bool was_waiting = job.waiting();
    job.state = to;
    follow(active_, slot, was_running || was_waiting, job.running() || job.waiting());
    follow(running_, slot, was_running, job.running());
    follow(waiting_, slot, was_waiting, job.waiting());
  }

 private:
  void follow(SlotList& list, Slot slot, bool was_in, bool is_in) {
    if (is_in && !was_in) list.insert_after(last_before(list, slot), slot);
    if (was_in && !is_in) list.erase(slot);
  }
  // New jobs belong at the end; others walk back to their place. The way along all active jobs,
  // which begins at the job itself, is the shorter one unless few of these are in the list.
  Slot last_before(const SlotList& list, Slot slot) const {
    Slot where = list.last_;
    const auto id_of = [this](Slot at) { return jobs_[index(at)].spec.id; };
    if (where == kNoSlot || id_of(where) < id_of(slot)) return where;
    if (&list != &active_ && list.size() * list.size() > active_.size()) {
      const auto in_list = [&](Slot at) {
        return &list == &running_ ? jobs_[index(at)].running() : jobs_[index(at)].waiting();
      };
      where = active_.previous_[index(slot)];
      while (where != kNoSlot && !in_list(where)) where = active_.previous_[index(where)];
      return where;
    }
    while (where != kNoSlot && id_of(where) > id_of(slot)) where = list.previous_[index(where)];
    return where;
  }

  friend void checkpoint(Archive& archive, JobTable& jobs);

  std::vector<Job> jobs_;
  std::vector<Slot> vacant_;
  SlotList active_;
  SlotList running_;
  SlotList waiting_;
};

}  // namespace muster
