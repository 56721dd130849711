"""Policies that misbehave: a clear exception with the policy's name and the simulated time, nothing lost."""

import time

import numpy as np
import pytest

import muster


def fails(policy, trace, message, **settings):
    with pytest.raises(muster.PolicyError, match=message) as error:
        muster.simulate(trace, "8x8", **{"scheduling": policy, **settings})
    # The next run is not affected.
    assert muster.simulate(trace[:5], "8x8")["finished"] == 5
    return error.value


def key_of(answer):
    def policy(jobs, now):
        return answer(jobs)
    return policy


@pytest.mark.parametrize("answer, message", [
    (lambda jobs: jobs.submit[:-1], r"scheduling policy 'policy' at .* s: returned \d+ keys for \d+ jobs"),
    (lambda jobs: np.full(len(jobs), np.nan), "is NaN"),
    (lambda jobs: jobs.submit.reshape(1, -1), "expected one number per job"),
    (lambda jobs: ["a"] * len(jobs), "expected one number per job"),
    (lambda jobs: None, "expected one number per job"),
    (lambda jobs: jobs.duration, "declare needs"),
    (lambda jobs: jobs.submti, "did you mean 'submit'"),
])
def test_bad_keys(trace, answer, message):
    fails(key_of(answer), trace, message)


@pytest.mark.parametrize("answer, message", [
    (lambda jobs: [0, 0], "twice"),
    (lambda jobs: [len(jobs)], "named job"),
    (lambda jobs: [-1], "named job -1"),
    (lambda jobs: [0.5], "expected places"),
    (lambda jobs: "all", "expected places"),
])
def test_bad_orders(trace, answer, message):
    @muster.policy.order
    def policy(jobs, cluster, now):
        return answer(jobs)
    fails(policy, trace, message)


@pytest.mark.parametrize("answer, message", [
    (lambda jobs: [(0, 1), (0, 1)], "gave 1 GPUs to job|twice"),
    (lambda jobs: [(0, int(jobs.gpus[0])), (0, int(jobs.gpus[0]))], "twice"),
    (lambda jobs: [(99999, 1)], "named job 99999"),
    (lambda jobs: [(0, 10**6)], "which runs on"),
    (lambda jobs: [(0, int(jobs.gpus[0]), "tpu")], "GPU type 'tpu'"),
    (lambda jobs: [(0,)], "expected \\(place, gpus\\)"),
    (lambda jobs: [(0, 1.5)], "whole number"),
    (lambda jobs: -jobs.gpus, "negative"),
    (lambda jobs: jobs.gpus * 1.0, "whole numbers of GPUs"),
])
def test_bad_requests(trace, answer, message):
    @muster.policy.allocate
    def policy(jobs, cluster, now):
        return answer(jobs)
    fails(policy, trace, message)


def test_bad_fractions(trace):
    @muster.policy.fractions
    def policy(jobs, cluster, now):
        return np.full(len(jobs), 2.0)
    fails(policy, trace, "the fraction 2: expected 0 to 1", pacing="rounds:length=300")


def test_bad_placement(trace):
    for answer, message in [([(0, 99)], "which has 8 free"), ([(99, 1)], "nodes 0 to 7"), ([(0, 0)], "took 0 GPUs"),
                            ("x", "list of"), ([(0, 1), (0, 1)], "twice|needs")]:
        fails("fifo", trace, message, placement=lambda job, gpus, cluster, now: answer)


def test_bad_admission(trace):
    fails("fifo", trace, "expected True", admission=lambda job, cluster, now: "maybe")


def test_what_it_raises_is_the_cause(trace):
    class Broken:
        def key(self, jobs, now):
            if now > 1000:
                raise ZeroDivisionError("of my own")
            return jobs.submit
    error = fails(Broken, trace, "scheduling policy 'Broken' raised at .* s:")
    assert isinstance(error.__cause__, ZeroDivisionError)
    assert "of my own" in str(error) and "test_bad_policies.py" in str(error)


def test_constructor_raises(trace):
    class Broken:
        def __init__(self):
            raise RuntimeError("no such table")

        def key(self, jobs, now):
            return jobs.submit
    fails(Broken, trace, "no such table")


def test_never_returns(trace):
    def policy(jobs, now):
        while True:
            pass
    began = time.monotonic()
    error = fails(policy, trace, "was ended at", time_limit=0.3)
    assert isinstance(error.__cause__, TimeoutError)
    assert time.monotonic() - began < 25


def test_never_returns_and_catches_exceptions(trace):
    def policy(jobs, now):
        while True:
            try:
                while True:
                    pass
            except Exception:
                pass
    began = time.monotonic()
    fails(policy, trace, "was ended at", time_limit=0.3)
    assert time.monotonic() - began < 25


def test_comes_back_late(trace):
    """What blocks outside the interpreter cannot be ended: it is when it comes back."""
    def policy(jobs, now):
        time.sleep(0.6)
        return jobs.submit
    fails(policy, trace, "was ended", time_limit=0.1)


def test_arguments_of_their_own(trace):
    seen = set()

    def key(jobs, now, weight=0.5):
        seen.add((type(now), weight))
        return jobs.submit

    @muster.policy.order
    def order(jobs, cluster, now=None, weight=2):
        seen.add((type(now), cluster.free_gpus >= 0, weight))
        return np.arange(len(jobs))

    @muster.policy.order
    def short(jobs, now):
        seen.add(type(now))
        return np.arange(len(jobs))
    for policy in (key, order, short):
        assert muster.simulate(trace[:5], "8x8", scheduling=policy)["finished"] == 5
    assert seen == {(float, 0.5), (float, True, 2), float}


def test_no_method_or_two(trace):
    class Nothing:
        pass

    class Both:
        def key(self, jobs, now):
            return jobs.submit

        def order(self, jobs, cluster, now):
            return []
    fails(Nothing, trace, "defines no method")
    fails(Both, trace, "choose one")
    with pytest.raises(muster.Error, match="did you mean 'preemptive'"):
        muster.policy.key(preemptve=True)


@pytest.mark.parametrize("declared, message", [
    ({"quantum": float("nan")}, "its quantum is nan, but must be a number above 0"),
    ({"quantum": -1}, "its quantum is -1"),
    ({"quantum": 0}, "its quantum is 0"),
    ({"quantum": "x"}, "its quantum is 'x'"),
    ({"preemptve": False}, "declares 'preemptve', which nobody reads; did you mean 'preemptive'"),
    ({"quantm": 5}, "did you mean 'quantum'"),
    ({"need": ["duration"]}, "did you mean 'needs'"),
])
def test_bad_declarations(trace, declared, message):
    policy = type("Declared", (), {**declared, "key": lambda self, jobs, now: jobs.submit})
    with pytest.raises(muster.Error, match=message):
        muster.simulate(trace, "8x8", scheduling=policy)


def test_own_attributes(trace):
    class Own:
        threshold, queues, verbose, name = 5, [1, 2], False, "mine"

        def key(self, jobs, now):
            return jobs.submit
    assert muster.simulate(trace[:5], "8x8", scheduling=Own)["finished"] == 5


def test_a_file_that_was_changed_is_read_again(trace, in_tmp):
    for sign in ("", "-"):
        (in_tmp / "mine.py").write_text(f"def key(jobs, now):\n    return {sign}jobs.submit\n")
        mine = muster.simulate(trace, "2x8", scheduling="mine.py:key", output=False)
        same = muster.simulate(trace, "2x8", scheduling=lambda jobs, now: -jobs.submit if sign else jobs.submit, output=False)
        assert mine["avg_jct_s"] == same["avg_jct_s"]


def test_wants_nobody(trace):
    """As with a policy in C++: the jobs are refused in the end, and the run says so."""
    @muster.policy.order
    def nobody(jobs, cluster, now):
        return []
    result = muster.simulate(trace[:5], "8x8", scheduling=nobody)
    assert result["refused"] == 5
    assert any("5 of 5 jobs were refused" in one and "policy never wanted them to run" in one for one in result.warnings)


def test_unknown_need(trace):
    class Needy:
        needs = ["durations"]

        def key(self, jobs, now):
            return jobs.submit
    with pytest.raises(muster.Error, match="did you mean 'duration'"):
        muster.simulate(trace, "8x8", scheduling=Needy)


def test_unmet_need(trace):
    class Needy:
        needs = ["deadline"]

        def key(self, jobs, now):
            return jobs.deadline
    with pytest.raises(muster.Error, match="needs deadlines"):
        muster.simulate(trace, "8x8", scheduling=Needy)


def test_views_are_closed_after_the_call(trace):
    kept = []

    def policy(jobs, now):
        kept.append((jobs, jobs.submit))
        return jobs.submit
    muster.simulate(trace[:20], "8x8", scheduling=policy)
    jobs, submit = kept[0]
    assert len(submit) >= 1
    with pytest.raises(muster.Error, match="earlier decision"):
        jobs.gpus
    with pytest.raises(ValueError):
        submit[0] = 5


def test_a_failing_run_leaves_no_folder(trace, in_tmp):
    with pytest.raises(muster.PolicyError):
        muster.simulate(trace, "8x8", scheduling=key_of(lambda jobs: None), output="out")
    assert not any(in_tmp.iterdir())
