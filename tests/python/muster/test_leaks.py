"""A thousand runs in one process hold no more memory than a hundred."""

import gc
import resource
import weakref

import pytest

import muster


def held_mb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def test_a_thousand_runs():
    trace = muster.Trace.generate("poisson", jobs=40)

    class Policy:
        keys_rest = True

        def key(self, jobs, now):
            return jobs.gpu_seconds

    def some(runs):
        for number in range(runs):
            if number % 10 == 0:
                muster.simulate(trace, "2x8", scheduling=Policy).jobs
            muster.simulate(trace, "2x8", scheduling=Policy if number % 2 else "las", output=False, progress=False)

    some(200)
    before = held_mb()
    some(1000)
    assert held_mb() - before < 8


class Kept:
    """Says who is still there."""

    there = weakref.WeakSet()

    def __init__(self):
        Kept.there.add(self)

    def key(self, jobs, now):
        return jobs.submit


class Failing(Kept):
    def key(self, jobs, now):
        raise RuntimeError("of its own")


def simulated(trace, policy):
    muster.simulate(trace, "2x8", scheduling=policy, output=False)


def stepped(trace, policy):
    engine = muster.Engine(trace, "2x8", scheduling=policy)
    engine.turn()
    other = engine.fork()
    engine.run()
    other.run()


@pytest.mark.parametrize("run", [simulated, stepped])
@pytest.mark.parametrize("policy", [Kept, Failing])
@pytest.mark.parametrize("as_object", [False, True])
def test_policies_end_with_their_run(run, policy, as_object):
    trace = muster.Trace.generate("poisson", jobs=10)
    try:
        run(trace, policy() if as_object else policy)
        assert policy is Kept
    except muster.PolicyError:
        assert policy is Failing
    gc.collect()
    assert not len(Kept.there)


def test_classes_end_with_their_run():
    def run():
        class Local(Kept):
            pass
        simulated(muster.Trace.generate("poisson", jobs=10), Local)
        return weakref.ref(Local)
    local = run()
    gc.collect()
    assert local() is None
