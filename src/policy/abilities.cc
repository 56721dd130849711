#include "policy/abilities.h"

#include <array>

namespace muster {
namespace {

using Scheduling = SchedulingTraits;
using Placement = PlacementTraits;

constexpr std::array kScheduling = {
    Ability<Scheduling>{"preempts", "takes GPUs away from running jobs", &Scheduling::preemptive},
    Ability<Scheduling>{"resizes", "gives elastic jobs other sizes while they run",
                        &Scheduling::resizes},
    Ability<Scheduling>{"co-locates", "puts several jobs on the same GPUs",
                        &Scheduling::co_locates},
    Ability<Scheduling>{"regroups", "changes which jobs share GPUs while they run",
                        &Scheduling::regroups},
    Ability<Scheduling>{"strict order", "no job overtakes one that does not fit",
                        &Scheduling::strict},
    Ability<Scheduling>{"work-conserving", "no GPU idles while a waiting job would fit",
                        &Scheduling::work_conserving},
    Ability<Scheduling>{"stable between events",
                        "decides the same until a job arrives or leaves, or a node changes",
                        &Scheduling::stable_between_events},
    Ability<Scheduling>{"needs periodic turns", "is asked every turn, also when no job waits",
                        &Scheduling::needs_periodic_turns},
    Ability<Scheduling>{"ranks jobs", "has an order of jobs that is finer than that of its plan",
                        &Scheduling::ranks_jobs},
    Ability<Scheduling>{"optimises", "solves a program or searches at each decision",
                        &Scheduling::optimises},
    Ability<Scheduling>{"strands", "may keep a job that would fit waiting for ever",
                        &Scheduling::strands},
    Ability<Scheduling>{"makes promises", "promises jobs with deadlines that they will be met",
                        &Scheduling::promises},
    Ability<Scheduling>{"allocates fractions", "says for which fraction of time jobs should run",
                        &Scheduling::allocates_fractions},
    Ability<Scheduling>{"ends jobs", "ends or refuses jobs itself", &Scheduling::ends_jobs},
    Ability<Scheduling>{"drives completion",
                        "says itself when jobs are over, instead of the backend",
                        &Scheduling::drives_completion},
    Ability<Scheduling>{"keeps the truth",
                        "has its own record of true run times, whatever `durations` says",
                        &Scheduling::keeps_truth},
    Ability<Scheduling>{"needs even nodes",
                        "counts on equal nodes that last, and on jobs that start at once",
                        &Scheduling::needs_even_nodes},
    Ability<Scheduling>{"repeats a simulator", "works only in a simulation with its own pacing",
                        &Scheduling::reproduces_simulator},
};

constexpr std::array kPlacement = {
    Ability<Placement>{"co-locates", "puts jobs on GPUs that others use", &Placement::co_locates},
    Ability<Placement>{"counts CPU and memory",
                       "keeps jobs waiting for CPU cores or memory, whatever the cluster counts",
                       &Placement::counts_host},
    Ability<Placement>{"strands", "may never find a place for a job that would fit",
                       &Placement::strands},
    Ability<Placement>{"stable between events",
                       "decides the same until a job arrives or leaves, or a node changes",
                       &Placement::stable_between_events},
};

}  // namespace

std::span<const Ability<SchedulingTraits>> scheduling_abilities() { return kScheduling; }
std::span<const Ability<PlacementTraits>> placement_abilities() { return kPlacement; }

}  // namespace muster
