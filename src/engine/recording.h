// Recordings: all data that an engine and the world exchanged during a run, so that the run can be
// repeated in virtual time, with the same decisions.
//
// A Recorder stands between an engine and its backend and source and writes every answer they give.
// A Replay gives these answers to another engine. If that engine is made of the same parts
// (cluster, policies, pacing), it takes the same decisions, turn by turn. Otherwise the first
// difference is kept: the policies are not those of the recording, or something in them is not
// deterministic.
//
// Events passed to Engine::apply() and turn_at() do not go through the backend. A service that
// drives an engine calls the Recorder's functions of these names instead. (The daemon has its own
// record, which also holds the requests of people: daemon/record/.)
//
// Recordings cannot answer what-if questions, because the answers fit only the recorded decisions.
// A selector that looks ahead needs a backend that can be forked, which a recording is not.
//
// docs/recordings.md describes the format, one line per entry.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/backend.h"
#include "workload/source.h"

namespace muster {

class Engine;

inline constexpr int kRecordingVersion = 1;

struct Recording {
  struct Offer {  // the source showed its next job, after so many answers that there is none
    int refusals = 0;
    JobSpec job;
    bool last = false;  // no job comes after those that arrive with it
  };
  struct Close {  // the source said that no job will come again, after so many denials
    int refusals = 0;
  };
  struct Wait {  // advance()
    Seconds until = 0;
    bool stop_at_event = false;
    Seconds reached = 0;
    std::vector<JobEvent> events;
  };
  struct News {  // apply() or turn_at(), from outside
    Seconds at = 0;
    bool turns = false;
    std::vector<JobEvent> events;
  };
  struct Outlook {  // next_event()
    Seconds time = kNever;
  };
  struct Act {
    CommandKind kind = CommandKind::kStart;
    Seconds at = 0;
    Slot slot{};
    JobId job{};
    GpuSet gpus;
    bool graceful = true;
    JobProgress progress;
  };
  using Entry = std::variant<Offer, Close, Wait, News, Outlook, Act>;

  bool has_external_events = false;  // of the backend
  bool answers_later = false;        // likewise
  bool numbers_jobs = false;         // of the source: offers have numbers
  std::vector<Entry> entries;
  bool complete = false;  // it was finished; otherwise whoever wrote it was cut off
};

// Reads a recording, also one that was cut off in the middle of a line. Symbols are interned.
Result<Recording> read_recording(std::string_view text, Symbols& symbols);

class Recorder {
 public:
  // All must outlive it; `symbols` is the table of the jobs.
  Recorder(Backend& backend, JobSource& source, const Symbols& symbols, std::ostream& out);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // What the engine is given instead of the two.
  Backend& backend() { return backend_; }
  JobSource& source() { return source_; }
  // For who drives the engine from outside: what the engine's functions of these names do.
  void apply(Engine& engine, Seconds now, std::span<const JobEvent> events);
  bool turn_at(Engine& engine, Seconds now, std::span<const JobEvent> events);
  // Marks the recording as complete.
  void finish();

 private:
  class RecordingBackend final : public Backend {
   public:
    RecordingBackend(Backend& inner, Recorder& recorder) : inner_(inner), recorder_(recorder) {}
    JobProgress act(const Command& command, Seconds now) override;
    Seconds advance(Seconds until, bool stop_at_event, std::vector<JobEvent>& events) override;
    void planned(const Plan& plan) override { inner_.planned(plan); }
    Seconds next_event() override;
    bool has_external_events() const override { return inner_.has_external_events(); }
    bool answers_later() const override { return inner_.answers_later(); }
    void dispatch(std::span<const Order> orders, Seconds now) override {
      inner_.dispatch(orders, now);
    }
    std::unique_ptr<Backend> fork() const override { return inner_.fork(); }

   private:
    Backend& inner_;
    Recorder& recorder_;
  };
  class RecordingSource final : public JobSource {
   public:
    RecordingSource(JobSource& inner, Recorder& recorder) : inner_(inner), recorder_(recorder) {}
    const JobSpec* peek() override;
    void pop() override;
    bool finished() override;
    bool numbers_jobs() const override { return inner_.numbers_jobs(); }
    bool more_after(Seconds) const override { return !last_; }
    std::optional<Error> error() const override { return inner_.error(); }

   private:
    JobSource& inner_;
    Recorder& recorder_;
    bool offered_ = false;
    bool last_ = false;  // what is offered
    bool closed_ = false;
  };

  void write(const Recording::Entry& entry);

  const Symbols& symbols_;
  std::ostream& out_;
  RecordingSource source_;
  RecordingBackend backend_;
  // Answers since the last entry that are not worth a line of their own.
  int empty_looks_ = 0;
  int denials_ = 0;
};

class Replay {
 public:
  // `recording` must outlive it.
  explicit Replay(const Recording& recording)
      : recording_(recording), source_(*this), backend_(*this) {}
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  // What the engine is given instead of a world.
  Backend& backend() { return backend_; }
  JobSource& source() { return source_; }

  // Turns the engine, which must have been given the two above, until its run or the recording is
  // over, or the two differ; that is the error.
  Status run(Engine& engine);
  // The first difference between this run and the recorded one, in words; nothing while there is
  // none.
  const std::optional<std::string>& difference() const { return difference_; }
  // Everything that was recorded has been gone through.
  bool exhausted() const { return next_ == recording_.entries.size(); }

 private:
  class ReplayBackend final : public Backend {
   public:
    explicit ReplayBackend(Replay& replay) : replay_(replay) {}
    JobProgress act(const Command& command, Seconds now) override;
    Seconds advance(Seconds until, bool stop_at_event, std::vector<JobEvent>& events) override;
    Seconds next_event() override;
    bool has_external_events() const override {
      return replay_.recording_.has_external_events && !replay_.difference_;
    }
    bool answers_later() const override { return replay_.recording_.answers_later; }

   private:
    Replay& replay_;
    Seconds now_ = 0;
  };
  class ReplaySource final : public JobSource {
   public:
    explicit ReplaySource(Replay& replay) : replay_(replay) {}
    const JobSpec* peek() override;
    void pop() override { offered_ = nullptr; }
    bool finished() override;
    bool numbers_jobs() const override { return replay_.recording_.numbers_jobs; }
    bool more_after(Seconds) const override { return offered_ == nullptr || !offered_->last; }

   private:
    Replay& replay_;
    const Recording::Offer* offered_ = nullptr;
    bool closed_ = false;
  };

  // The next entry if it is of this kind, else null.
  template <typename Entry>
  const Entry* peek_entry() const;
  void step();
  // Whether what follows, except for looks at the source, came from outside.
  bool driven_next() const;
  // Gives the engine what it was given from outside, or takes its own turn; false: it is over.
  bool go_on(Engine& engine);
  // Notes the first difference: what this run did.
  void differ(const std::string& what);

  const Recording& recording_;
  ReplaySource source_;
  ReplayBackend backend_;
  std::size_t next_ = 0;
  int empty_looks_ = 0;
  int denials_ = 0;
  std::optional<std::string> difference_;
};

}  // namespace muster
