"""Policies written in Python: equal to their C++ twins, in every form, from the command line too."""

import subprocess
import sys

import numpy as np
import pandas
import pytest

import muster


def same(trace, mine, theirs, cluster="8x8", **settings):
    one = muster.simulate(trace, cluster, scheduling=mine, **settings)
    two = muster.simulate(trace, cluster, scheduling=theirs, **settings)
    pandas.testing.assert_frame_equal(one.jobs, two.jobs)
    pandas.testing.assert_frame_equal(one.decisions, two.decisions)
    return one


class Las:
    keys_rest = True
    quantum = 300

    def key(self, jobs, now):
        return jobs.gpu_seconds


class Srtf:
    needs = ["duration"]
    keys_rest = True

    def key(self, jobs, now):
        return jobs.remaining


@pytest.mark.parametrize("pacing", ["events", "rounds:length=300"])
def test_las_twin(trace, pacing):
    same(trace, Las, "las", pacing=pacing)


def test_srtf_twin(trace):
    same(trace, Srtf, "srtf")


def test_keys_that_do_not_rest(trace):
    @muster.policy.key(quantum=300)
    def las(jobs, now):
        return jobs.gpu_seconds
    same(trace, las, "las")


def test_order_twin(trace):
    @muster.policy.order(quantum=300)
    def las(jobs, cluster, now):
        return np.lexsort((jobs.id, jobs.gpu_seconds))
    same(trace, las, "las")


def test_fifo_twin(trace):
    @muster.policy.order(preemptive=False, stable_between_events=True)
    def fifo(jobs, cluster, now):
        return np.arange(len(jobs))
    same(trace, fifo, "fifo:strict=false")


def test_allocate_sizes_twin(trace):
    @muster.policy.allocate(preemptive=False, stable_between_events=True)
    def fifo(jobs, cluster, now):
        return [(place, int(gpus)) for place, gpus in enumerate(jobs.gpus)]
    same(trace, fifo, "fifo:strict=false")

    @muster.policy.allocate(preemptive=False, stable_between_events=True)
    def as_array(jobs, cluster, now):
        return jobs.gpus
    same(trace, as_array, "fifo:strict=false")


def test_elastic_sizes():
    trace = muster.Trace.from_numpy(submit_s=[0, 0], duration_s=[1000, 1000], gpus=[4, 4], min_gpus=[1, 1],
                                    max_gpus=[8, 8])

    class Halves:
        resizes = True

        def allocate(self, jobs, cluster, now):
            return np.maximum(jobs.min_gpus, np.minimum(jobs.max_gpus, cluster.usable_gpus // len(jobs)))
    result = muster.simulate(trace, "1x8", scheduling=Halves)
    assert result["finished"] == 2


def test_groups_share_gpus():
    trace = muster.Trace.from_numpy(submit_s=[0, 0], duration_s=[1000, 1000], gpus=[4, 4])

    class Pairs:
        co_locates = True

        def allocate(self, jobs, cluster, now):
            return [(tuple(range(len(jobs))), 4)]
    result = muster.simulate(trace, "1x4", scheduling=Pairs, perf="sharing")
    assert (result.jobs["start_s"] == 0).all()


def test_fractions(trace):
    class Equal:
        def fractions(self, jobs, cluster, now):
            return np.minimum(1.0, np.full(len(jobs), cluster.usable_gpus / jobs.gpus.sum()))
    assert muster.simulate(trace[:100], "4x8", scheduling=Equal, pacing="rounds:length=300")["finished"] == 100


TYPES = {"perf": 'gpu-types:speeds="v100=1,p100=0.6,k80=0.3"', "pacing": "rounds:length=360"}


def test_fractions_by_type_twin(trace):
    """Gavel's isolated policy, from its own formula."""
    class Isolated:
        by_type = True
        knows_types = False

        def fractions(self, problem):
            share = problem.capacity / len(problem)
            fractions = np.tile(share, (len(problem), 1)) / problem.gpus[:, None]
            return fractions / np.maximum(1, fractions.sum(axis=1, keepdims=True))
    small = trace[trace["gpus"] <= 4][:60]
    same(small, Isolated, "gavel-isolated", cluster="2x8:v100,2x8:p100,2x8:k80", **TYPES)


def test_solve_inside_a_policy(trace):
    import muster.solve

    class MaxMin:
        by_type = True
        needs = {"gpu_types": "all types count as equally fast"}

        def fractions(self, problem):
            return muster.solve.allocate(problem.throughputs, problem.capacity, gpus=problem.gpus,
                                         weights=problem.weights)
    small = trace[trace["gpus"] <= 4][:40]
    mine = muster.simulate(small, "2x8:v100,2x8:p100,2x8:k80", scheduling=MaxMin, **TYPES)
    theirs = muster.simulate(small, "2x8:v100,2x8:p100,2x8:k80", scheduling="gavel-max-min-fairness-perf", **TYPES)
    assert mine["finished"] == 40
    assert mine["avg_jct_s"] == pytest.approx(theirs["avg_jct_s"], rel=0.02)


def test_admission_and_placement(trace):
    def small_only(job, cluster, now):
        return job.gpus <= 2

    class FirstFit:
        def find(self, job, gpus, cluster, now):
            free = cluster.nodes.free
            taken = []
            for node in np.flatnonzero(free):
                count = min(int(free[node]), gpus)
                taken.append((node, count))
                gpus -= count
                if gpus == 0:
                    return taken
            return None
    result = muster.simulate(trace, "8x8", admission=small_only, placement=FirstFit)
    jobs = result.jobs
    assert (jobs.loc[jobs["gpus"] <= 2, "status"] == "finished").all()
    assert (jobs.loc[jobs["gpus"] > 2, "status"] == "refused").all()


def test_state_is_kept_and_looked_ahead(trace):
    """A selector forks the run: the policy is copied, and what the copy learns stays with it."""
    class Counting:
        def __init__(self):
            self.asked = 0

        def key(self, jobs, now):
            self.asked += 1
            return jobs.gpu_seconds
    policy = Counting()
    muster.simulate(trace[:50], "4x8", scheduling=policy)
    assert policy.asked > 10


def test_text_columns(trace):
    seen = set()

    def by_user(jobs, now):
        seen.update(jobs.user)
        return jobs.submit
    named = trace.replace(user=["anna", "bert"] * (len(trace) // 2))
    muster.simulate(named, "8x8", scheduling=by_user)
    assert seen == {"anna", "bert"}


POLICY = '''
class Las:
    keys_rest = True
    def __init__(self, quantum=300):
        self.quantum = quantum
    def key(self, jobs, now):
        return jobs.gpu_seconds

def broken(jobs, now):
    return jobs.gpu_seconds / 0 * float("nan")
'''


def test_policy_files(command, trace, in_tmp, monkeypatch):
    (in_tmp / "mine.py").write_text(POLICY)
    trace.write("jobs.csv")
    ours = muster.simulate("jobs.csv", "8x8", scheduling="mine.py:Las")
    built_in = muster.simulate("jobs.csv", "8x8", scheduling="las")
    pandas.testing.assert_frame_equal(ours.jobs, built_in.jobs)
    with pytest.raises(muster.Error, match="did you mean 'Las'"):
        muster.simulate("jobs.csv", "8x8", scheduling="mine.py:Laz")
    with pytest.raises(muster.Error, match="no such file"):
        muster.simulate("jobs.csv", "8x8", scheduling="nobody.py:Laz")
    monkeypatch.setenv("MUSTER_PYTHON", sys.executable)
    subprocess.run([command, "simulate", "jobs.csv", "-c", "8x8", "-s", "mine.py:Las:quantum=300", "-q", "-o", "cli"],
                   check=True, stdout=subprocess.DEVNULL)
    pandas.testing.assert_frame_equal(muster.Result.open("cli").jobs, built_in.jobs)
    told = subprocess.run([command, "simulate", "jobs.csv", "-c", "8x8", "-s", "mine.py:broken", "-q", "--no-save"],
                          stderr=subprocess.PIPE, text=True)
    assert told.returncode == 2 and "is NaN" in told.stderr
    monkeypatch.setenv("MUSTER_PYTHON", "/nonexistent/python")
    told = subprocess.run([command, "simulate", "jobs.csv", "-c", "8x8", "-s", "mine.py:Las"], stderr=subprocess.PIPE,
                          text=True)
    assert told.returncode == 2 and "make python" in told.stderr


def test_sweep_over_processes(trace, in_tmp):
    (in_tmp / "mine.py").write_text(POLICY)
    table = muster.sweep(trace[:60], "4x8", scheduling=["mine.py:Las", "las"], processes=2)
    assert table["avg_jct_s"].nunique() == 1
