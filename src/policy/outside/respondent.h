// A policy from outside the tree, as the core asks it: what it declares, questions and answers.
//
// Where it lives is the respondent's business: in an interpreter of this process (python/core), in
// a process of its own (daemon/outside), or in a recording of what it once said. The forms of
// policies (outside_policies.h) turn answers into plans and find nonsense in them; they are the
// same for all.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/symbols.h"
#include "policy/needs.h"
#include "policy/view.h"

namespace muster {

struct AllocationProblem;

struct Declared {
  // Scheduling: key, order, allocate, fractions or fractions_by_type; else admit or find.
  std::string form;
  std::vector<Need> needs;
  bool preemptive = true;
  bool stable_between_events = false;
  bool strict = false;
  bool work_conserving = true;
  bool resizes = false;
  bool co_locates = false;
  bool needs_periodic_turns = false;
  bool keys_rest = false;
  bool knows_types = true;  // of fractions by type
  bool backfill = true;     // of placements
  double quantum = kNever;  // seconds after which it wants to be asked again
  double round = 360;       // of fractions by type, as the two below
  double reset_interval = 1920;
  double seed = 1;
};

// What is declared, by the names that policies use.
struct DeclaredFlag {
  const char* name;
  bool Declared::*value;
};
struct DeclaredNumber {
  const char* name;
  double Declared::*value;
};
std::span<const DeclaredFlag> declared_flags();
std::span<const DeclaredNumber> declared_numbers();
// What can be known, by the names that policies use, in the order of the enumeration.
std::span<const std::string_view> knowledge_names();
// `otherwise`: what the policy does where it is not told; empty: it does not run.
Result<Need> need_named(const std::string& name, const std::string& otherwise);
// The same needs, for as long as the program runs.
Needs kept_needs(const std::vector<Need>& needs);

struct PolicyQuestion {
  Seconds now = 0;
  const View* view = nullptr;                  // of the jobs
  const std::vector<Slot>* slots = nullptr;    // the jobs asked about
  const ClusterState* cluster = nullptr;       // may be ahead of the view's
  long long demanded = 0;                      // admission: GPUs asked for by all admitted jobs
  int gpus = 0;                                // placement: so many are wanted
  const AllocationProblem* problem = nullptr;  // fractions by type: nothing else is asked
};

// By the form: one number per job (or per job and type); integers (places in an order, rows of
// requests, pairs of node and GPUs); or a word. Neither: nothing was found.
struct PolicyAnswer {
  std::vector<double> numbers;
  std::vector<std::int64_t> integers;
  std::string word;
  bool nothing = false;

  void clear() {
    numbers.clear();
    integers.clear();
    word.clear();
    nothing = false;
  }
};

class Respondent {
 public:
  virtual ~Respondent() = default;
  virtual const Declared& declared() const = 0;
  virtual const std::string& name() const = 0;
  // Throws PolicyFailure (policy/failure.h) where there is no answer.
  virtual void ask(const PolicyQuestion& question, PolicyAnswer& answer) = 0;
  // The answer makes no sense: throws PolicyFailure.
  [[noreturn]] virtual void bad(Seconds now, const std::string& what) = 0;
  // The same policy with a state of its own.
  virtual std::unique_ptr<Respondent> copy() const = 0;
};

}  // namespace muster
